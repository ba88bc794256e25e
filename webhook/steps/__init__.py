"""The command `steps`: where the steps of TrainJobs and JobSets are, and what each waits for."""
