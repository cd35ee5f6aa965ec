//! `add_to_bin`: collects moments in a bin.

use poem_openapi::Object;

use super::{Call, Tool, ToolAnswer};
use crate::http::views::{BinBody, HttpFailure, SelectRequest};
use domain::bins::change::{BinChange, Place};
use domain::bins::select::SelectDraft;
use domain::bins::{BinDraft, BinId};

/// Adds selects to a bin, or creates one with them.
pub(super) struct AddToBin;

#[derive(Object)]
#[oai(rename = "AddToBin")]
pub(super) struct AddToBinInput {
    /// Id of the bin; null creates a bin.
    #[oai(nullable)]
    bin_id: Option<String>,
    /// Name of the new bin; only without `bin_id`. Null: `Selects`.
    #[oai(nullable)]
    name: Option<String>,
    /// The selects to add at the end of the bin, in order.
    #[oai(validator(min_items = 1, max_items = 100))]
    selects: Vec<SelectRequest>,
}

#[derive(Object)]
#[oai(rename = "AddedToBin")]
pub(super) struct AddedToBin {
    /// The bin after the change.
    bin: BinBody,
    /// Ids of the new selects, in order.
    select_ids: Vec<String>,
}

impl Tool for AddToBin {
    const NAME: &'static str = "add_to_bin";
    const TITLE: &'static str = "Add moments to a bin";
    const DESCRIPTION: &'static str = "Collects moments in a bin, a named, ordered list of selects \
        that users play one after the other and export for editing programs. Name each by the \
        moment_id of a hit or citation, or by video_id, start and end; `in` and `out` trim it, such \
        as to a quotation, and `note` says why it was chosen. Without bin_id, creates a bin; reuse \
        its bin_id to add more. The filter {\"bin\": bin_id} limits search_moments to it. \
        GET /bins/{bin_id}/export?format= exports it as edl, fcpxml, xmeml, otio, quotes.docx, \
        quotes.md, clips.csv, srt or vtt.";
    const READ_ONLY: bool = false;
    type Input = AddToBinInput;
    type Output = AddedToBin;

    async fn call(
        call: Call<'_>,
        input: AddToBinInput,
    ) -> Result<ToolAnswer<AddedToBin>, HttpFailure> {
        let editor = call.service.for_write()?;
        let drafts: Vec<SelectDraft> =
            input.selects.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?;
        let (bin_id, is_new) = match (input.bin_id, input.name) {
            (Some(_), Some(_)) => {
                return Err(HttpFailure::unprocessable(
                    "'bin_id' and 'name' exclude each other; 'name' is for a new bin",
                ));
            }
            (Some(id), None) => (BinId::parse(&id)?, false),
            (None, name) => {
                let name = name.unwrap_or_else(|| "Selects".into());
                let draft = BinDraft { name, description: String::new(), collection: None };
                (editor.create_bin(draft).await?.bin_id, true)
            }
        };
        let added = editor.change_bin(&bin_id, None, BinChange::Add(drafts, Place::End)).await;
        if added.is_err() && is_new {
            // Without its selects, the new bin is of no use.
            editor.delete_bin(&bin_id, None).await?;
        }
        let added = added?;
        let select_ids: Vec<String> =
            added.selects.iter().map(|view| view.select.id.to_string()).collect();
        let text = format!(
            "Added {} to bin {bin_id} ({}), which has {} selects.",
            select_ids.join(", "),
            added.bin.name,
            added.bin.selects
        );
        Ok(ToolAnswer::new(text, AddedToBin { bin: added.bin.into(), select_ids }))
    }
}
