//! The grammar of questions about facts: rules that turn a question into an intent and subjects.
//! The classes of phrases are in [`classes`](super::classes), and [`pattern`](super::pattern)
//! describes the syntax. The first rule that matches the whole question and accepts its captures
//! applies.
//!
//! Rules are strict: a question with words that no rule accounts for, such as `How many people died
//! in the flood?`, is about what is said and not about stored facts.

use super::absence::Absent;
use super::question::Intent::{
    Compare, Count, Describe, Exists, HowLong, List, Order, Quote, When, Who,
};
use super::question::{Edge, Intent, SpeakerRank, SpeakerRef, Subject, SubjectPhrase};

/// What a rule reads from its captures: the intent, the subject and the subject to compare with.
type Reading = Option<(Intent, Subject, Option<Subject>)>;

/// A rule: the pattern and what its captures mean.
type Rule = (&'static str, fn(&[SubjectPhrase]) -> Reading);

/// The rules, in the order in which they are tried.
pub(super) const RULES: &[Rule] = &[
    // How many speakers, people, turns, words, mentions or things.
    ("how many different|distinct|separate? @people @speak", |_| all(Count, Subject::Speakers)),
    ("how many different|distinct|separate? @voices @speak", |_| all(Count, Subject::Speakers)),
    ("how many different|distinct|separate? @voices @there?", |_| all(Count, Subject::Speakers)),
    ("what is the number of @voices", |_| all(Count, Subject::Speakers)),
    ("how many different? @people @see @at_once?", |_| all(Count, Subject::People)),
    ("how many different? @people @at_once? @see", |_| all(Count, Subject::People)),
    ("how many different? @people @there @see @at_once?", |_| all(Count, Subject::People)),
    ("how many different? @people @there visible? @at_once?", |_| all(Count, Subject::Anyone)),
    ("how many turns @there", |_| all(Count, Subject::Turns(None))),
    ("how many turns @does * take|have|get", |c| {
        all(Count, Subject::Turns(Some(one_speaker(&c[0])?)))
    }),
    ("@times @does @someone speak|talk", |_| all(Count, Subject::Turns(None))),
    ("@times @does * speak|talk", |c| all(Count, Subject::Turns(Some(one_speaker(&c[0])?)))),
    ("@times @does the? speaker|speakers change|alternate|switch", |_| {
        all(Count, Subject::Handovers)
    }),
    ("how many handovers|speaker changes? @there", |_| all(Count, Subject::Handovers)),
    ("how many words @is said|spoken|there", |_| all(Count, Subject::Words)),
    ("@times @is * @mentioned", |c| mention(Count, &c[0], None)),
    ("@times @does * occur|come up? @there?", |c| quoted(Count, &c[0])),
    ("@times @does @someone @mention *", |c| mention(Count, &c[0], None)),
    ("@times @does * @mention *", |c| mention(Count, &c[1], Some(one_speaker(&c[0])?))),
    ("how many * @see @at_once?", |c| things(Count, &c[0])),
    ("how many * are there @at_once?", |c| things(Count, &c[0])),
    // When or how long something is absent.
    ("@time @is there? @nobody @shown?", |_| absent(When(Edge::Every), Absent::People)),
    ("@time can @nobody be? @shown", |_| absent(When(Edge::Every), Absent::People)),
    ("@time @does @nobody @appear", |_| absent(When(Edge::Every), Absent::People)),
    ("@time is the? @place empty|deserted|unoccupied|vacant", |_| {
        absent(When(Edge::Every), Absent::People)
    }),
    ("@time @is @nobody @speaking", |_| absent(When(Edge::Every), Absent::Speech)),
    ("@time @is @nobody heard", |_| absent(When(Edge::Every), Absent::Speech)),
    ("@time @does @nobody speak|talk", |_| absent(When(Edge::Every), Absent::Speech)),
    ("@time is nothing said|spoken|heard", |_| absent(When(Edge::Every), Absent::Speech)),
    ("@time is there @silence", |_| absent(When(Edge::Every), Absent::Speech)),
    ("@time @is there? no * @shown?", |c| no_thing(When(Edge::Every), &c[0])),
    ("@time can no * be? @shown", |c| no_thing(When(Edge::Every), &c[0])),
    ("@time @does no * @appear", |c| no_thing(When(Edge::Every), &c[0])),
    ("@time @is the? * not @shown", |c| no_thing(When(Edge::Every), &c[0])),
    ("@time @is the? * absent|missing|gone", |c| no_thing(When(Edge::Every), &c[0])),
    ("how long @is there? @nobody @shown?", |_| absent(HowLong, Absent::People)),
    ("how long is the? @place empty|deserted|unoccupied|vacant", |_| {
        absent(HowLong, Absent::People)
    }),
    ("how long @is @nobody @speaking", |_| absent(HowLong, Absent::Speech)),
    ("how long @does @nobody speak|talk", |_| absent(HowLong, Absent::Speech)),
    ("how long is there @silence", |_| absent(HowLong, Absent::Speech)),
    ("how long @is there? no * @shown?", |c| no_thing(HowLong, &c[0])),
    ("how long @is the? * not @shown", |c| no_thing(HowLong, &c[0])),
    // When something is said, shown or begins.
    ("@time @does @someone @first_time? @mention * @first_time?", |c| {
        mention(When(Edge::First), &c[0], None)
    }),
    ("@time @does @someone last @mention *", |c| mention(When(Edge::Last), &c[0], None)),
    ("@time @is * @last_time @mentioned", |c| mention(When(Edge::Last), &c[0], None)),
    ("@time @is * @mentioned @last_time", |c| mention(When(Edge::Last), &c[0], None)),
    ("@time @is * @first_time? @mentioned @first_time?", |c| {
        mention(When(Edge::First), &c[0], None)
    }),
    ("@time is the first mention of *", |c| mention(When(Edge::First), &c[0], None)),
    ("@time is the last mention of *", |c| mention(When(Edge::Last), &c[0], None)),
    ("@time @does * @first_time? @mention * @first_time?", |c| {
        mention(When(Edge::First), &c[1], Some(one_speaker(&c[0])?))
    }),
    ("@time @does the? speech|talking|conversation|narration|dialogue start|begin", |_| {
        all(When(Edge::First), Subject::Speech)
    }),
    ("@time @does the? speech|talking|conversation|narration|dialogue end|stop|finish", |_| {
        all(When(Edge::Last), Subject::Speech)
    }),
    (
        "@time @does someone|anyone|somebody|people @first_time? start|begin? @hold @first_time?",
        |_| all(When(Edge::First), Subject::Speech),
    ),
    ("@time @does the|this|that? @video end|finish|stop", |_| all(HowLong, Subject::Video)),
    ("@time @does the? speaker|speakers change|switch|alternate", |_| {
        all(When(Edge::Every), Subject::Handovers)
    }),
    ("@time @does * @first_time? start|begin @speaking", |c| voice(When(Edge::First), &c[0])),
    ("@time @does * @first_time? speak|talk @first_time?", |c| voice(When(Edge::First), &c[0])),
    ("@time @does * join|enter|arrive|start|begin", |c| voice(When(Edge::First), &c[0])),
    ("@time @does * stop|finish|end @speaking", |c| voice(When(Edge::Last), &c[0])),
    ("@time @does * @last_time? speak|talk @last_time?", |c| voice(When(Edge::Last), &c[0])),
    ("@time @does * leave|stop|finish|end", |c| voice(When(Edge::Last), &c[0])),
    ("@time is * speaking|talking|heard", |c| voice(When(Edge::Every), &c[0])),
    ("@time @does * @last_time @arrive", |c| shown(When(Edge::Last), &c[0])),
    ("@time @does * @arrive @last_time", |c| shown(When(Edge::Last), &c[0])),
    ("@time @is * @last_time @shown", |c| shown(When(Edge::Last), &c[0])),
    ("@time @is * @shown @last_time", |c| shown(When(Edge::Last), &c[0])),
    ("@time @does * @first_time? @appear @first_time?", |c| shown(When(Edge::First), &c[0])),
    ("@time @does * @vanish", |c| shown(When(Edge::Last), &c[0])),
    ("@time @is * @first_time? @shown @first_time?", |c| shown(When(Edge::First), &c[0])),
    ("@time can * @first_time? be? @shown @first_time?", |c| shown(When(Edge::First), &c[0])),
    ("@time can|do i|you|we|one @first_time? see *", |c| shown(When(Edge::First), &c[0])),
    // How long the video, a speaker or something on screen lasts.
    ("how long|many is|was the|this|that? @video", |_| all(HowLong, Subject::Video)),
    (
        "how long|many seconds|minutes? @does the|this|that? @video last|run|take|have|go on?",
        |_| all(HowLong, Subject::Video),
    ),
    ("how many seconds|minutes is|are|does the|this|that? @video long|last?", |_| {
        all(HowLong, Subject::Video)
    }),
    ("what is the total|full|overall? length|duration|runtime of? the|this|that? @video?", |_| {
        all(HowLong, Subject::Video)
    }),
    ("what is the running|playing time of the|this @video", |_| all(HowLong, Subject::Video)),
    ("how much|long speech|talking is there", |_| all(HowLong, Subject::Speech)),
    ("how much of the @video is speech|talking|spoken", |_| all(HowLong, Subject::Speech)),
    ("how long is there speech|talking", |_| all(HowLong, Subject::Speech)),
    ("how long @does @someone @hold", |_| all(HowLong, Subject::Speakers)),
    ("how much|long @does * @hold", |c| speaking_time(&c[0])),
    ("how long is * @hold", |c| speaking_time(&c[0])),
    ("how long @is * @shown", |c| shown(HowLong, &c[0])),
    ("how long can * be? @shown", |c| shown(HowLong, &c[0])),
    ("how long @does * stay|remain @shown", |c| shown(HowLong, &c[0])),
    // Who speaks most, least, first or last, and who says something.
    ("@speaker @talks @most", |_| all(Who(SpeakerRank::Most), Subject::Speakers)),
    ("@speaker has the? most|longest speaking|talking|talk|air? time|share|turns?", |_| {
        all(Who(SpeakerRank::Most), Subject::Speakers)
    }),
    ("who is the main|dominant|longest|most talkative? speaker|voice?", |_| {
        all(Who(SpeakerRank::Most), Subject::Speakers)
    }),
    ("@speaker dominates @talk?", |_| all(Who(SpeakerRank::Most), Subject::Speakers)),
    ("@speaker @does most of? the? talking|speaking", |_| {
        all(Who(SpeakerRank::Most), Subject::Speakers)
    }),
    ("@speaker @talks @least", |_| all(Who(SpeakerRank::Least), Subject::Speakers)),
    ("@speaker has the? least|shortest speaking|talking|talk|air? time|share?", |_| {
        all(Who(SpeakerRank::Least), Subject::Speakers)
    }),
    ("@speaker @talks first", |_| all(Who(SpeakerRank::First), Subject::Speakers)),
    ("who is the first to speak|talk", |_| all(Who(SpeakerRank::First), Subject::Speakers)),
    ("who is the first speaker|voice", |_| all(Who(SpeakerRank::First), Subject::Speakers)),
    ("@speaker starts|begins|opens @talk?", |_| all(Who(SpeakerRank::First), Subject::Speakers)),
    ("@speaker @talks last", |_| all(Who(SpeakerRank::Last), Subject::Speakers)),
    ("who is the last to speak|talk", |_| all(Who(SpeakerRank::Last), Subject::Speakers)),
    ("who is the last speaker|voice", |_| all(Who(SpeakerRank::Last), Subject::Speakers)),
    ("@speaker ends|closes|finishes|concludes @talk?", |_| {
        all(Who(SpeakerRank::Last), Subject::Speakers)
    }),
    ("@speaker has|gets the last word", |_| all(Who(SpeakerRank::Last), Subject::Speakers)),
    ("@speaker @talks more|longer * or *", |c| compare(&c[0], &c[1])),
    ("@does * speak|talk more|longer|less than *", |c| compare(&c[0], &c[1])),
    ("@speaker @talks", |_| all(List, Subject::Speakers)),
    ("who can be heard", |_| all(List, Subject::Speakers)),
    ("who is heard", |_| all(List, Subject::Speakers)),
    ("@speaker @mention *", |c| mention(Who(SpeakerRank::Any), &c[0], None)),
    // Lists.
    ("who are the speakers", |_| all(List, Subject::Speakers)),
    ("which|what speakers|voices @speak", |_| all(List, Subject::Speakers)),
    ("which|what speakers|voices @there", |_| all(List, Subject::Speakers)),
    ("list the speakers|voices", |_| all(List, Subject::Speakers)),
    ("which|what @written @is @shown", |_| all(List, Subject::ScreenText)),
    ("which|what @written @see", |_| all(List, Subject::ScreenText)),
    ("which|what @written is there on screen|display?", |_| all(List, Subject::ScreenText)),
    ("which|what @written can be|i|you|we read|seen|see", |_| all(List, Subject::ScreenText)),
    ("what is written on? the? screen?", |_| all(List, Subject::ScreenText)),
    ("what does the screen|text|caption say|read", |_| all(List, Subject::ScreenText)),
    ("what @is @shown", |_| all(List, Subject::Screen)),
    ("what can be @shown", |_| all(List, Subject::Screen)),
    ("what can|do you|we|i|one see", |_| all(List, Subject::Screen)),
    ("what does the? @video show", |_| all(List, Subject::Screen)),
    ("what @see", |_| all(List, Subject::Screen)),
    ("which|what @kind? @things @see", |_| all(List, Subject::AllThings)),
    ("which|what @kind? @things are there", |_| all(List, Subject::AllThings)),
    ("list|name the|all @things @see?", |_| all(List, Subject::AllThings)),
    ("which|what @kind? * @see", |c| things(List, &c[0])),
    ("which|what @kind? * are there", |c| things(List, &c[0])),
    ("list|name the|all * that? @see", |c| things(List, &c[0])),
    ("what @is said|spoken|heard", |_| all(Quote, Subject::Speech)),
    ("what is being said|spoken", |_| all(Quote, Subject::Speech)),
    ("what @does @someone say|speak|talk about?", |_| all(Quote, Subject::Speech)),
    ("what can be heard", |_| all(Quote, Subject::Speech)),
    ("what can|do you|we|i hear", |_| all(Quote, Subject::Speech)),
    ("what @does * say", |c| all(Quote, Subject::Speaker(one_speaker(&c[0])?))),
    ("what happens|happened|occurs", |_| all(Describe, Subject::Video)),
    ("what is happening|going on?", |_| all(Describe, Subject::Video)),
    // Which of two comes first.
    ("which|what|who comes|appears|is first shown|seen|mentioned? * or *", |c| order(&c[0], &c[1])),
    ("which|what is shown|seen|visible|mentioned first * or *", |c| order(&c[0], &c[1])),
    ("@does * @arrive before *", |c| order(&c[0], &c[1])),
    ("@does * come before *", |c| order(&c[0], &c[1])),
    ("@is * @shown before *", |c| order(&c[0], &c[1])),
    ("@does * @arrive after *", |c| order(&c[1], &c[0])),
    ("@does * come after *", |c| order(&c[1], &c[0])),
    ("@is * @shown after *", |c| order(&c[1], &c[0])),
    ("@does * speak|talk before *", |c| voices_in_order(&c[0], &c[1])),
    ("@does * speak|talk after *", |c| voices_in_order(&c[1], &c[0])),
    // Whether something is there.
    ("is there any|some|a? speech|talking|voice|dialogue|speaking", |_| {
        all(Exists, Subject::Speech)
    }),
    ("is there someone|anyone|anybody speaking|talking", |_| all(Exists, Subject::Speech)),
    ("is anyone|anybody|someone speaking|talking|heard", |_| all(Exists, Subject::Speech)),
    ("@does anyone|anybody|someone speak|talk", |_| all(Exists, Subject::Speech)),
    ("@is there any|some? @written @shown?", |_| all(Exists, Subject::ScreenText)),
    ("@is any|some? @written @shown", |_| all(Exists, Subject::ScreenText)),
    ("@is there any|some? @people @shown?", |_| all(Exists, Subject::People)),
    ("@is there a person|human @shown?", |_| all(Exists, Subject::People)),
    ("@is any|some? @people @shown", |_| all(Exists, Subject::People)),
    ("@is there * @shown", |c| things(Exists, &c[0])),
    ("@is there *", |c| things(Exists, &c[0])),
    ("@is * @shown", |c| things(Exists, &c[0])),
    ("@does * appear", |c| things(Exists, &c[0])),
    ("can * be seen", |c| things(Exists, &c[0])),
    ("can|do you|we|i|one see *", |c| things(Exists, &c[0])),
    ("@is * @mentioned", |c| mention(Exists, &c[0], None)),
    ("@does @someone @mention *", |c| mention(Exists, &c[0], None)),
];

fn all(intent: Intent, subject: Subject) -> Reading {
    Some((intent, subject, None))
}

/// Reads a speaker who is singled out by a name, a number or a pronoun.
fn one_speaker(phrase: &SubjectPhrase) -> Option<SpeakerRef> {
    SpeakerRef::parse(phrase)
}

fn voice(intent: Intent, speaker: &SubjectPhrase) -> Reading {
    let speaker = one_speaker(speaker).filter(|speaker| *speaker != SpeakerRef::Someone)?;
    all(intent, Subject::Speaker(speaker))
}

fn speaking_time(speaker: &SubjectPhrase) -> Reading {
    all(
        HowLong,
        match one_speaker(speaker)? {
            SpeakerRef::Someone => Subject::Speakers,
            speaker => Subject::Speaker(speaker),
        },
    )
}

/// Maximum number of words of meaning of something that is mentioned. A longer one is a statement,
/// which words alone do not find.
const MAX_MENTION_WORDS: usize = 4;

fn mention(intent: Intent, phrase: &SubjectPhrase, by: Option<SpeakerRef>) -> Reading {
    let words = phrase.content().len();
    let is_short = phrase.is_quoted || (words <= MAX_MENTION_WORDS && !phrase.is_negated());
    (words > 0 && is_short).then(|| (intent, Subject::Mention(phrase.clone(), by), None))
}

/// Reads a mention of something that must be quoted.
fn quoted(intent: Intent, phrase: &SubjectPhrase) -> Reading {
    if phrase.is_quoted { mention(intent, phrase, None) } else { None }
}

fn shown(intent: Intent, phrase: &SubjectPhrase) -> Reading {
    let is_person = ["person", "people", "someone", "somebody", "anyone"];
    if is_person.contains(&phrase.noun().as_str()) {
        return all(intent, Subject::People);
    }
    all(intent, shown_subject(phrase)?)
}

fn shown_subject(phrase: &SubjectPhrase) -> Option<Subject> {
    let has_content = !phrase.content().is_empty() && !phrase.is_negated();
    has_content.then(|| Subject::Shown(phrase.clone()))
}

fn absent(intent: Intent, absent: Absent) -> Reading {
    all(intent, Subject::Absent(absent))
}

/// Reads the absence of a thing.
fn no_thing(intent: Intent, phrase: &SubjectPhrase) -> Reading {
    let has_content = !phrase.content().is_empty() && !phrase.is_negated() && !phrase.is_text();
    if has_content { absent(intent, Absent::Thing(phrase.clone())) } else { None }
}

fn things(intent: Intent, phrase: &SubjectPhrase) -> Reading {
    (!phrase.is_negated()).then(|| (intent, Subject::Things(phrase.clone()), None))
}

fn order(first: &SubjectPhrase, second: &SubjectPhrase) -> Reading {
    Some((Order, shown_subject(first)?, Some(shown_subject(second)?)))
}

fn voices_in_order(first: &SubjectPhrase, second: &SubjectPhrase) -> Reading {
    let (first, second) = (one_speaker(first)?, one_speaker(second)?);
    Some((Order, Subject::Speaker(first), Some(Subject::Speaker(second))))
}

fn compare(one: &SubjectPhrase, other: &SubjectPhrase) -> Reading {
    let (one, other) = (one_speaker(one)?, one_speaker(other)?);
    Some((Compare, Subject::Speaker(one), Some(Subject::Speaker(other))))
}
