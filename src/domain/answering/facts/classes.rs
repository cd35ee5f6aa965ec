//! The classes of phrases that the rules of questions about facts refer to.

/// Phrases that only say that a question is about the video. They are removed first.
pub(super) const SCOPES: &[&str] = &[
    "in|during|throughout|within|across the|this|that|your whole|entire|given? @scope",
    "in|during|throughout|within all|these|those|the|your? videos|clips|recordings",
    "in total|all",
    "in it|here",
    "overall|altogether|exactly|please|approximately|roughly|actually",
    "at any|some time|point|moment",
];

/// The classes of phrases that patterns refer to, separated by semicolons.
pub(super) const CLASSES: &[(&str, &str)] = &[
    (
        "scope",
        "video; clip; recording; footage; film; movie; audio; file; conversation; meeting; \
         interview; discussion; dialogue; call; podcast",
    ),
    (
        "video",
        "video; clip; recording; footage; film; movie; audio; file; it; this; audio file; video \
         clip",
    ),
    ("people", "people; persons; individuals; humans"),
    (
        "recordings",
        "interviews; interview; videos; video; clips; clip; recordings; recording; films; film; \
         talks; talk; conversations; conversation; meetings; meeting; files; file",
    ),
    (
        "interviewees",
        "interviewees; participants; speakers; people; witnesses; guests; respondents; candidates",
    ),
    (
        "each_person",
        "each interviewee; every interviewee; each participant; every participant; each person; \
         every person; each speaker; every speaker; each witness; every witness; each guest; \
         every guest; each respondent; each of them; the interviewees; the participants; the \
         respondents; the witnesses; the guests; the speakers; the different people; the \
         different speakers; the different interviewees; different people; all interviewees; all \
         participants; all speakers; all the people; all of them; everyone; everybody; both; both \
         of them; both speakers; both people; the two people; the two speakers; the two \
         interviewees; people",
    ),
    (
        "think",
        "say; says; said; think; thinks; thought; feel; feels; felt; talk; talks; talked; speak; \
         speaks; spoke; believe; have to say; has to say; tell us; report; describe their \
         opinion; argue",
    ),
    ("views", "views; opinions; answers; statements; positions; attitudes; experiences"),
    (
        "nobody",
        "nobody; no one; noone; no people; no person; no persons; no human; no humans; not \
         anybody; not anyone; none",
    ),
    (
        "place",
        "room; scene; picture; frame; place; view; shot; image; screen; street; road; corridor; \
         hall; hallway; office; yard; lobby; floor; stage; building; house; shop; store; \
         entrance; station; platform; court; field",
    ),
    ("silence", "silence; no speech; no talking; no voice; a pause; quiet"),
    ("voices", "speakers; voices; participants; talkers"),
    (
        "speak",
        "speak; talk; take turns; take turns speaking; take turns talking; take turns to speak; \
         take part; participate; converse; are speaking; are talking; are heard; are taking \
         part; can be heard; can you hear; do you hear; can one hear; do we hear; can i hear; \
         say something; say anything; spoke; talked; have a turn; have turns; speak or talk; \
         are having a conversation; are in conversation; are taking turns; are there speaking; \
         are there talking",
    ),
    ("speaking", "speaking; talking; to speak; to talk"),
    (
        "there",
        "are there; are present; exist; are; does it have; does the video have; does the clip \
         have; does the recording have; does the video contain; does the conversation have; do \
         we have; is there; take part; occur; happen; are made; are taken",
    ),
    (
        "see",
        "are visible; can be seen; are seen; are shown; are on screen; are on the screen; \
         appear; appears; show up; are in the picture; are in the frame; are in the image; are \
         in view; are in frame; are in shot; do we see; can we see; can you see; do you see; \
         can i see; do i see; can one see; are displayed; are depicted; appear on screen; \
         appear on the screen; is visible; is seen; is shown; is on screen; are there to see; \
         are to be seen; are pictured; does the video show; does the clip show; does it show; \
         does the footage show; does the picture show; were visible; were shown; were seen; are \
         recognised; are recognized; are detected; could be seen; does one see",
    ),
    (
        "at_once",
        "at once; at the same time; simultaneously; at a time; at most; together; at one time; \
         at the most; maximum; at the same moment",
    ),
    (
        "time",
        "when; when exactly; at what time; at which time; at what point; at which point; at \
         what moment; at which moment; what time; at what second; at which second; at what \
         timestamp; at which timestamp; at what timecode; at what minute; at what point of the \
         video; at which times; at what times; during which times; at which moments; where in the video; at what time of the video",
    ),
    (
        "appear",
        "appear; come up; show up; pop up; come on; come on screen; come into view; come into \
         the picture; come into frame; become visible; turn up; come on the screen; appear on \
         screen; appear on the screen; show up on screen; come up on screen; come up on the \
         screen; show on screen; come in view; enter the picture; enter the frame; appear in \
         the picture; enter the screen; come to be seen; get shown; flash up; pop up on screen",
    ),
    (
        "arrive",
        "appear; come up; show up; pop up; come on screen; come into view; come into the \
         picture; become visible; appear on screen; appear on the screen; come up on screen; \
         come up on the screen; show up on screen; come on; enter the picture; enter the frame",
    ),
    (
        "shown",
        "shown; visible; displayed; seen; on screen; on the screen; in view; in the picture; on \
         display; to be seen; in frame; in the frame; in shot; presented; shown on screen; \
         visible on screen; displayed on screen; be seen; shown on the screen; pictured",
    ),
    (
        "vanish",
        "disappear; vanish; go away; leave the screen; leave the picture; go off screen; leave \
         the frame; disappear from the screen; disappear from view; go out of view",
    ),
    (
        "mention",
        "mention; mentions; mentioned; say; says; said; talk about; talks about; talked about; \
         speak about; speaks about; spoke about; speak of; speaks of; talk of; bring up; brings \
         up; refer to; refers to; discuss; discusses; use the word; uses the word; say the \
         word; says the word; say the words; says the words; utter; utters; start talking \
         about; begin talking about; start speaking about; mention the word; say the name; says \
         the name; talking about; speaking about; start to talk about; say something about; \
         says something about",
    ),
    (
        "mentioned",
        "mentioned; said; spoken; spoken about; spoken of; talked about; discussed; brought up; \
         uttered; heard; referred to; used; named",
    ),
    (
        "someone",
        "he; she; they; we; someone; somebody; anyone; anybody; the speaker; the narrator; the \
         speakers; people; the man; the woman; the voice; the presenter; the host; one; you; i; \
         any speaker; a speaker",
    ),
    ("talks", "talks; speaks; talked; spoke; is talking; is speaking; does talk; speak; talk"),
    (
        "speaker",
        "who; which speaker; which person; which voice; what speaker; which one; which \
         participant; which of the speakers; whose voice; which of them",
    ),
    (
        "most",
        "most; the most; longest; the longest; most of the time; more than anyone; more than \
         anyone else; most often; more than the others; more than the other; for the longest \
         time; for the longest",
    ),
    ("least", "least; the least; shortest; the shortest; for the shortest time"),
    (
        "talk",
        "the conversation; the discussion; the dialogue; the talk; speaking; talking; to speak; \
         to talk; the video; the clip; the recording; the meeting; the interview; the speech",
    ),
    (
        "hold",
        "speak; talk; speak for; talk for; hold the floor; have the floor; speaking; talking; \
         be heard",
    ),
    ("kind", "kind of; kinds of; type of; types of; sort of; sorts of; different; other"),
    ("things", "things; objects; items; thing; object"),
    (
        "written",
        "text; texts; words; word; captions; caption; titles; title; lines; writing; lettering; \
         subtitles; on screen text; signs",
    ),
    ("is", "is; are; was; were"),
    ("does", "do; does; did"),
    ("times", "how many times; how often"),
    ("first_time", "first; for the first time; initially"),
    ("last_time", "last; for the last time; finally"),
];
