from typing import Literal, cast

JobStatus = Literal["done", "failed", "queued", "running"]


def check_job_status(value: str) -> JobStatus:
    return cast(JobStatus, value)
