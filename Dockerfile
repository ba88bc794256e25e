# The image of the server. Make the wheel first: .venv/bin/python -m build --wheel --no-isolation
FROM python:3.13-slim-trixie AS build
RUN python -m venv --without-pip /opt/kueue-steps
COPY requirements/runtime.txt /tmp/
RUN pip --python /opt/kueue-steps/bin/python install --no-cache-dir --require-hashes --only-binary=:all: -r /tmp/runtime.txt
COPY dist/*.whl /tmp/
RUN pip --python /opt/kueue-steps/bin/python install --no-cache-dir --no-deps --no-index /tmp/*.whl

FROM python:3.13-slim-trixie
# The server needs no installer.
RUN rm -rf /usr/local/bin/pip* /usr/local/lib/python3.13/ensurepip /usr/local/lib/python3.13/site-packages/pip*
COPY --from=build /opt/kueue-steps /opt/kueue-steps
ENV PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
EXPOSE 9443 8080
ENTRYPOINT ["/opt/kueue-steps/bin/kueue-steps"]
CMD ["serve"]
