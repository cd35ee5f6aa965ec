//! `find_person`: the people to whom users gave a name, and where one of them appears.

use poem_openapi::Object;

use super::{Call, Tool, ToolAnswer};
use crate::http::views::{
    AppearanceBody, AppearanceKindBody, HttpFailure, PeopleListBody, PersonBody, PersonPageBody,
};
use crate::mcp::prose::seconds;
use domain::people::{PeopleQuery, PersonQuery};
use domain::scoped::VisiblePeople;

/// Finds a person by name.
pub(super) struct FindPerson;

#[derive(Object)]
pub(super) struct PersonInput {
    /// The name of the person, in any letter case; null lists the people who have a name.
    #[oai(nullable)]
    name: Option<String>,
    /// Maximum number of appearances or people.
    #[oai(default = "limit", validator(minimum(value = "1"), maximum(value = "200")))]
    limit: u32,
    /// The `next` value of the previous page; requires the same name.
    #[oai(nullable)]
    cursor: Option<String>,
}

fn limit() -> u32 {
    50
}

#[derive(Object)]
#[oai(rename = "FoundPerson")]
pub(super) struct FoundPerson {
    /// The person with this name, or the people who have a name.
    people: Vec<PersonBody>,
    /// Where the person appears: the newest video first, in chronological order within each video.
    appearances: Vec<AppearanceBody>,
    /// The `cursor` of the next page; absent on the last page.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
    /// What was omitted to fit the token budget, and how to get it.
    #[oai(skip_serializing_if_is_none)]
    rest: Option<String>,
}

impl Tool for FindPerson {
    const NAME: &'static str = "find_person";
    const TITLE: &'static str = "Find a person by name";
    const DESCRIPTION: &'static str = "Returns where a person is visible or speaks, in all videos, by the \
        name that users gave to a person or speaker. Without a name, it lists the people who have one. \
        Other people and speakers are known within one video only: use get_aggregate and \
        get_transcript for them. It is free and calls no model.";
    type Input = PersonInput;
    type Output = FoundPerson;

    async fn call(
        mut call: Call<'_>,
        input: PersonInput,
    ) -> Result<ToolAnswer<FoundPerson>, HttpFailure> {
        let PersonInput { name, limit, cursor } = input;
        let (service, page_limit) = (VisiblePeople::from(call.service), limit as usize);
        let mut found =
            FoundPerson { people: Vec::new(), appearances: Vec::new(), next: None, rest: None };
        let (lines, left_out) = if let Some(name) = name {
            let query = PersonQuery { name, limit: page_limit, cursor };
            let page: PersonPageBody = service.get(&query).await?.into();
            let (person, line) = describe_person(page.person);
            call.budget.take_value(&person);
            call.budget.take_text(&line);
            let appearances = page.appearances.into_iter().map(describe_appearance).collect();
            let fitting = call.budget.fill(appearances);
            found.people.push(person);
            (found.appearances, found.next) = (fitting.units, page.next);
            ([vec![line], fitting.lines].concat(), fitting.left_out)
        } else {
            let query = PeopleQuery { collection: None, text: None, limit: page_limit, cursor };
            let page: PeopleListBody = service.list(&query).await?.into();
            let people = page.people.into_iter().map(describe_person).collect();
            let fitting = call.budget.fill(people);
            (found.people, found.next) = (fitting.units, page.next);
            (fitting.lines, fitting.left_out)
        };
        if left_out > 0 {
            found.next = None;
            found.rest = Some(format!("{left_out} do not fit; ask with a limit below {limit}"));
        }
        let mut text = lines;
        if text.is_empty() && found.rest.is_none() {
            text.push("Nobody has a name.".into());
        }
        text.extend(found.rest.clone());
        text.extend(found.next.iter().map(|next| format!("More: call again with cursor {next}.")));
        Ok(ToolAnswer::new(text.join("\n"), found))
    }
}

/// Renders a person as structured content and as a line of text.
fn describe_person(person: PersonBody) -> (PersonBody, String) {
    let line = format!(
        "{}: {} appearances in {} videos, visible for {}s, speaking for {}s",
        person.name,
        person.appearances,
        person.videos,
        seconds(person.seconds_visible),
        seconds(person.seconds_speaking)
    );
    (person, line)
}

/// Renders an appearance as structured content and as a line of text.
fn describe_appearance(one: AppearanceBody) -> (AppearanceBody, String) {
    let kind = match one.kind {
        AppearanceKindBody::Visible => "visible",
        AppearanceKindBody::Speaking => "speaking",
    };
    let times = format!("{}-{}s", seconds(one.start), seconds(one.end));
    let line = format!("[{} {times}] {kind}, {}, {}", one.video_id, one.filename, one.moment_id);
    (one, line)
}
