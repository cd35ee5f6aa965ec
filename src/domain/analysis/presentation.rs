//! How a page shows the output of an analyzer or the result of an aggregator. `/schema` serves it, so that
//! the UI has lanes, panels and names for analyzers and aggregators that it does not know.

/// How a page shows the outputs of an analyzer or the result of an aggregator.
///
/// `text` and the `items` of tracks and charts are JSON pointers (RFC 6901) into the output; the fields of a
/// track and a chart are names within one item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Presentation {
    /// The name of an icon in `ui/src/controls/Icon.svelte`; an unknown name shows a list.
    pub icon: &'static str,
    /// What the output contains.
    pub kind: OutputKind,
    /// The position among analyzers or among aggregators, lowest first. The first analyzer with text
    /// describes a chunk.
    pub rank: u8,
    /// Pointer to the text that describes the output: a string, a list or an object.
    pub text: Option<&'static str>,
    /// The tab of its panel. Without one, [`OutputKind::Rows`] have a separate tab or section and the
    /// other kinds have none.
    pub tab: Option<Tab>,
    /// The timed items of the output.
    pub tracks: &'static [TrackSpec],
    /// The charts of [`OutputKind::Charts`].
    pub charts: &'static [Chart],
}

impl Presentation {
    /// Rows after the built-in analyzers and aggregators.
    pub const ROWS: Self = Self {
        icon: "list",
        kind: OutputKind::Rows,
        rank: 100,
        text: None,
        tab: None,
        tracks: &[],
        charts: &[],
    };
}

/// An id as words.
pub(crate) fn label_from_id(id: &str) -> String {
    let mut words = id.replace(['_', '-'], " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

/// What an output contains, which decides how a page shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// A description of the picture.
    Scene,
    /// Turns or segments of speech, in tracks.
    Speech,
    /// Lines of text in the picture, in tracks.
    ScreenText,
    /// Labelled objects, in tracks. Each frequent label has a lane.
    Objects,
    /// People of a chunk, in tracks.
    People,
    /// A text, with the lists of strings `topics` and `key_points`, and `tiers` of sections.
    Prose,
    /// Consecutive sections with a label and a text, in a track.
    Sections,
    /// Moments with a label, an actor in `text` and a category, in a track.
    Occurrences,
    /// People linked across chunks, which `/videos/{video_id}/entities` returns.
    LinkedPeople,
    /// When linked people are present; part of the panel of [`Self::LinkedPeople`].
    Presence,
    /// Who is seen together, as `pairs` of ids `a` and `b`; part of the panel of [`Self::LinkedPeople`].
    Companions,
    /// Objects followed across chunks, in a track, with their number of `appearances`.
    TrackedObjects,
    /// Numbers, in charts.
    Charts,
    /// Anything else.
    Rows,
}

impl OutputKind {
    /// The name in `/schema`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scene => "scene",
            Self::Speech => "speech",
            Self::ScreenText => "screen_text",
            Self::Objects => "objects",
            Self::People => "people_in_view",
            Self::Prose => "prose",
            Self::Sections => "sections",
            Self::Occurrences => "occurrences",
            Self::LinkedPeople => "linked_people",
            Self::Presence => "presence",
            Self::Companions => "companions",
            Self::TrackedObjects => "tracked_objects",
            Self::Charts => "charts",
            Self::Rows => "rows",
        }
    }
}

/// A tab of the results of a video. Presentations with the same tab share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tab {
    /// The id in addresses.
    pub id: &'static str,
    /// The name, in English.
    pub label: &'static str,
}

impl Tab {
    /// The tab of charts.
    pub const STATISTICS: Self = Self::new("statistics", "Statistics");

    /// A tab.
    pub const fn new(id: &'static str, label: &'static str) -> Self {
        Self { id, label }
    }
}

/// A list of timed items in an output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrackSpec {
    /// Pointer to the list, or to an object that is the only item.
    pub items: &'static str,
    /// The field with the start of an item, in seconds. Items without it start with their chunk.
    pub start: &'static str,
    /// The field with the end of an item, in seconds. Items without it end with their chunk.
    pub end: &'static str,
    /// The field with the label.
    pub label: &'static str,
    /// The field with further text.
    pub text: Option<&'static str>,
    /// The field with the speaker.
    pub speaker: Option<&'static str>,
    /// The field with the category, by which a panel filters.
    pub category: Option<&'static str>,
    /// The field with a number, 0 or more, which is the height in a lane of levels.
    pub value: Option<&'static str>,
    /// The lane on the timeline, if any.
    pub lane: Option<Lane>,
}

impl TrackSpec {
    /// Items with `start` and `end`, without a lane.
    pub const fn new(items: &'static str, label: &'static str) -> Self {
        Self {
            items,
            start: "start",
            end: "end",
            label,
            text: None,
            speaker: None,
            category: None,
            value: None,
            lane: None,
        }
    }

    /// Items with `first_seen` and `last_seen`, without a lane.
    pub const fn sightings(items: &'static str, label: &'static str) -> Self {
        Self { start: "first_seen", end: "last_seen", ..Self::new(items, label) }
    }
}

/// A lane of the timeline. Tracks with the same lane share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    /// The id under which a browser keeps its order and visibility.
    pub id: &'static str,
    /// The name, in English.
    pub label: &'static str,
    /// How items are drawn.
    pub form: LaneForm,
    /// The position among the lanes, lowest first. The page's own lanes are moments (10), a split preview
    /// (20), cuts (30) and sound (60).
    pub rank: u8,
    /// The highest possible value of [`LaneForm::Levels`], if there is one.
    pub max: Option<u32>,
}

impl Lane {
    /// A lane of spans.
    pub const fn spans(id: &'static str, label: &'static str, rank: u8) -> Self {
        Self { id, label, form: LaneForm::Spans, rank, max: None }
    }
}

/// How the items of a lane are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneForm {
    /// Labelled bars.
    Spans,
    /// Labelled bars in the colour of `positive`, `neutral`, `negative` or `mixed`, the label.
    Moods,
    /// Marks at the starts.
    Marks,
    /// Bars as high as their value, relative to the highest of the video.
    Levels,
}

impl LaneForm {
    /// The name in `/schema`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spans => "spans",
            Self::Moods => "moods",
            Self::Marks => "marks",
            Self::Levels => "levels",
        }
    }
}

/// A chart of numbers in a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chart {
    /// The heading, in English.
    pub title: &'static str,
    /// How it is drawn.
    pub form: ChartForm,
    /// Pointer to the list of items. An item is an object, or a list whose fields are `0`, `1` ….
    pub items: &'static str,
    /// The field with the name of a bar or a tag.
    pub label: Option<&'static str>,
    /// The field with the number.
    pub value: &'static str,
    /// The field with a number to subtract.
    pub minus: Option<&'static str>,
    /// The field with the category of a tag.
    pub category: Option<&'static str>,
    /// The lowest number of the axis.
    pub low: f64,
    /// The least of the highest number of the axis.
    pub high: f64,
}

impl Chart {
    /// A chart whose axis begins at 0.
    pub const fn new(
        form: ChartForm,
        title: &'static str,
        items: &'static str,
        value: &'static str,
    ) -> Self {
        Self {
            title,
            form,
            items,
            label: None,
            value,
            minus: None,
            category: None,
            low: 0.0,
            high: 1.0,
        }
    }
}

/// How a chart is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartForm {
    /// A bar per speaker: the share (0..1) as value, and `seconds`. The result has `handovers` and
    /// `total_speech_seconds`.
    SpeakingTime,
    /// A line over time.
    Line,
    /// A line over time that changes in steps.
    Steps,
    /// A bar per item, the highest first.
    Bars,
    /// Names with counts.
    Tags,
}

impl ChartForm {
    /// The name in `/schema`.
    pub fn name(self) -> &'static str {
        match self {
            Self::SpeakingTime => "speaking_time",
            Self::Line => "line",
            Self::Steps => "steps",
            Self::Bars => "bars",
            Self::Tags => "tags",
        }
    }
}
