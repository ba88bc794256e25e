"""The command `preview`: what the server would make of TrainJobs and JobSets, before they exist."""
