//! The status of a job. Every route that starts a job returns it.

use poem_openapi::Enum;

use domain::jobs;

#[derive(Enum)]
#[oai(rename_all = "snake_case")]
#[oai(rename = "JobStatus")]
pub(crate) enum JobStatusBody {
    Queued,
    Running,
    Done,
    Failed,
}

impl From<jobs::JobStatus> for JobStatusBody {
    fn from(status: jobs::JobStatus) -> Self {
        match status {
            jobs::JobStatus::Queued => Self::Queued,
            jobs::JobStatus::Running => Self::Running,
            jobs::JobStatus::Done => Self::Done,
            jobs::JobStatus::Failed => Self::Failed,
        }
    }
}
