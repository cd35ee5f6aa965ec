//! How a page shows the outputs of analyzers and the results of aggregators: part of `/schema`.

use poem_openapi::Object;

use domain::analysis::presentation::{Chart, Lane, Tab, TrackSpec};
use domain::status::PresentationInfo;

/// How a page shows the outputs of an analyzer or the result of an aggregator. `text` and `items` are JSON
/// pointers (RFC 6901) into the output; the other names of tracks and charts are fields of one item.
#[derive(Object)]
#[oai(rename = "Presentation")]
pub(crate) struct PresentationBody {
    /// Id of the analyzer or aggregator.
    id: String,
    /// Its name, in English.
    label: String,
    /// Name of an icon.
    icon: String,
    /// What the output contains. Analyzers: `scene`, `speech`, `screen_text`, `objects` or `people_in_view`.
    /// Aggregators: `prose`, `sections`, `occurrences`, `linked_people`, `presence`, `companions`,
    /// `tracked_objects` or `charts`. Both: `rows`, which is anything else.
    kind: String,
    /// Pointer to the text that describes the output: a string, a list or an object.
    #[oai(nullable)]
    text: Option<String>,
    /// The tab of its panel.
    #[oai(nullable)]
    tab: Option<TabBody>,
    /// The timed items.
    tracks: Vec<TrackBody>,
    /// The charts.
    charts: Vec<ChartBody>,
}

/// A tab of the results of a video.
#[derive(Object)]
#[oai(rename = "PresentationTab")]
pub(crate) struct TabBody {
    /// Id in addresses.
    id: String,
    /// Name, in English.
    label: String,
}

/// A list of timed items in an output. Items may have `locations`, boxes in the picture.
#[derive(Object)]
#[oai(rename = "PresentationTrack")]
pub(crate) struct TrackBody {
    /// Pointer to the list, or to an object that is the only item.
    items: String,
    /// Field with the start, in seconds. Items without it start with their chunk.
    start: String,
    /// Field with the end, in seconds. Items without it end with their chunk.
    end: String,
    /// Field with the label.
    label: String,
    /// Field with further text.
    #[oai(nullable)]
    text: Option<String>,
    /// Field with the speaker.
    #[oai(nullable)]
    speaker: Option<String>,
    /// Field with the category.
    #[oai(nullable)]
    category: Option<String>,
    /// Field with a number, 0 or more: the height in a lane of levels.
    #[oai(nullable)]
    value: Option<String>,
    /// The lane on the timeline.
    #[oai(nullable)]
    lane: Option<LaneBody>,
}

/// A lane of the timeline. Tracks with the same lane share it.
#[derive(Object)]
#[oai(rename = "PresentationLane")]
pub(crate) struct LaneBody {
    /// Id under which a browser keeps its order and visibility.
    id: String,
    /// Name, in English.
    label: String,
    /// How items are drawn: `spans`, `moods`, `marks` or `levels`.
    form: String,
    /// Position among the lanes, lowest first.
    rank: u8,
    /// Highest possible value of `levels`, if there is one.
    #[oai(nullable)]
    max: Option<u32>,
}

/// A chart of numbers in a result.
#[derive(Object)]
#[oai(rename = "PresentationChart")]
pub(crate) struct ChartBody {
    /// Heading, in English.
    title: String,
    /// How it is drawn: `speaking_time`, `line`, `steps`, `bars` or `tags`.
    form: String,
    /// Pointer to the list of items. An item is an object, or a list whose fields are `0`, `1` and so on.
    items: String,
    /// Field with the name of a bar or a tag.
    #[oai(nullable)]
    label: Option<String>,
    /// Field with the number.
    value: String,
    /// Field with a number to subtract.
    #[oai(nullable)]
    minus: Option<String>,
    /// Field with the category of a tag.
    #[oai(nullable)]
    category: Option<String>,
    /// Lowest number of the axis.
    low: f64,
    /// The least of the highest number of the axis.
    high: f64,
}

impl From<PresentationInfo> for PresentationBody {
    fn from(info: PresentationInfo) -> Self {
        let shown = info.presentation;
        Self {
            id: info.id,
            label: info.label,
            icon: shown.icon.to_owned(),
            kind: shown.kind.name().to_owned(),
            text: shown.text.map(str::to_owned),
            tab: shown.tab.map(TabBody::from),
            tracks: shown.tracks.iter().map(TrackBody::from).collect(),
            charts: shown.charts.iter().map(ChartBody::from).collect(),
        }
    }
}

impl From<Tab> for TabBody {
    fn from(tab: Tab) -> Self {
        Self { id: tab.id.to_owned(), label: tab.label.to_owned() }
    }
}

impl From<&TrackSpec> for TrackBody {
    fn from(track: &TrackSpec) -> Self {
        Self {
            items: track.items.to_owned(),
            start: track.start.to_owned(),
            end: track.end.to_owned(),
            label: track.label.to_owned(),
            text: track.text.map(str::to_owned),
            speaker: track.speaker.map(str::to_owned),
            category: track.category.map(str::to_owned),
            value: track.value.map(str::to_owned),
            lane: track.lane.map(LaneBody::from),
        }
    }
}

impl From<Lane> for LaneBody {
    fn from(lane: Lane) -> Self {
        Self {
            id: lane.id.to_owned(),
            label: lane.label.to_owned(),
            form: lane.form.name().to_owned(),
            rank: lane.rank,
            max: lane.max,
        }
    }
}

impl From<&Chart> for ChartBody {
    fn from(chart: &Chart) -> Self {
        Self {
            title: chart.title.to_owned(),
            form: chart.form.name().to_owned(),
            items: chart.items.to_owned(),
            label: chart.label.map(str::to_owned),
            value: chart.value.to_owned(),
            minus: chart.minus.map(str::to_owned),
            category: chart.category.map(str::to_owned),
            low: chart.low,
            high: chart.high,
        }
    }
}
