//! What belongs to the whole install, for callers with unrestricted access.

use super::Scoped;
use crate::alerts::{
    AlertEditor, AlertOverview, Alerts, MatchJudgement, MatchList, MatchQuery, MatchView,
};
use crate::evaluation::run::EvaluationRun;
use crate::evaluation::{Evaluation, EvaluationSummary, Evaluations};
use crate::jobs::Submission;
use crate::kernel::error::Result;
use crate::library::extractors::Extractors;
use crate::search::SearchPage;
use crate::status::ProbeOutcome;

/// The install of a caller whose access is unrestricted.
pub struct Install<'s>(pub(super) &'s Scoped);

#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl<'s> Install<'s> {
    /// Returns the use-cases that change the install. Returns `Forbidden` if the caller has
    /// read-only access.
    pub fn for_write(&self) -> Result<InstallEditor<'s>> {
        self.0.access.check_write()?;
        Ok(InstallEditor(self.0))
    }

    pub async fn evaluations(&self) -> Result<Vec<EvaluationSummary>> {
        self.0.service.evaluations.list().await
    }

    pub async fn evaluation(&self, name: &str) -> Result<Evaluation> {
        self.0.service.evaluations.get(name).await
    }

    pub async fn evaluation_run(&self, name: &str, run_id: &str) -> Result<EvaluationRun> {
        self.0.service.evaluations.get_run(name, run_id).await
    }

    pub async fn alerts(&self) -> Result<Vec<AlertOverview>> {
        self.0.service.alerts.overviews().await
    }

    pub async fn alert(&self, name: &str) -> Result<AlertOverview> {
        let alerts = &self.0.service.alerts;
        alerts.overview(alerts.get(name).await?).await
    }

    pub async fn alert_matches(&self, query: &MatchQuery) -> Result<MatchList> {
        self.0.service.alerts.matches(query).await
    }

    pub async fn test_alert(&self, name: &str) -> Result<SearchPage> {
        self.0.service.alerts.test(name).await
    }

    /// Updates the gauges, which count all videos.
    pub async fn refresh_gauges(&self) -> ProbeOutcome {
        self.0.service.status.refresh_gauges().await
    }
}

/// The install of a caller that may change all of it. Therefore gives access to whole use-cases.
pub struct InstallEditor<'s>(&'s Scoped);

#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl<'s> InstallEditor<'s> {
    pub fn evaluations(&self) -> &'s Evaluations {
        &self.0.service.evaluations
    }

    pub fn alerts(&self) -> &'s Alerts {
        &self.0.service.alerts
    }

    pub async fn judge_match(
        &self,
        alert: &str,
        match_id: &str,
        judgement: &MatchJudgement,
    ) -> Result<MatchView> {
        AlertEditor::new(self.alerts()).judge(&self.0.access, alert, match_id, judgement).await
    }

    pub fn extractors(&self) -> &'s Extractors {
        &self.0.service.extractors
    }

    pub fn submission(&self) -> &'s Submission {
        &self.0.service.jobs.submission
    }
}
