"""The edge: HTTP and TLS around the rules.

The only package that imports fastapi, starlette and uvicorn. It reads, times, answers and reports
each review exactly once, and decides nothing.
"""
