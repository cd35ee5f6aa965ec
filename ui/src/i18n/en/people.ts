// The people who have a name, across videos, and the selection of people in a video.

export const persons = {
  persons: {
    about: "People and speakers with the same name are one person here, in all videos.",
    find: "Find a name",
    empty: "No names yet",
    emptyAbout:
      "Open a video, then name somebody: a person under People, or a speaker in the transcript. Give several the same name if they are the same person.",
    noMatches: "No matching names.",
    open: (name: string, videos: string) => `Show ${name}, in ${videos}`,
    visible: "On screen",
    speaking: "Speaking",
    visibleFor: (time: string) => `on screen for ${time}`,
    speaksFor: (time: string) => `speaks for ${time}`,
    more: "More people",
    moreAppearances: "More appearances",
    omitted: (videos: string) => `${videos} with corrections, the oldest ones, are not included.`,
    play: (video: string, kind: string, time: string) => `${kind} in ${video} at ${time}`,
    all: "All people",
    rename: "Rename",
    lookFor: "Look for in other videos",
    isHere: (name: string) => `This is ${name}`,
    isNamed: (name: string) => `The person in this moment is now ${name}.`,
    uncertain: "It is not clear who is meant. Name the person in the video.",
    renameTitle: (name: string) => `Rename ${name}`,
    renameAbout: (videos: string) =>
      `The name changes in ${videos}. A name that somebody else has makes them one person.`,
    renamed: (from: string, to: string, videos: string) => `${from} is now ${to}, in ${videos}.`,
    allVideos: (name: string) => `${name} in all videos`,
    select: (name: string) => `Select ${name}`,
    /** At least two. */
    selected: (n: number) => `${n} people`,
    nameSelected: (n: number) => `Name ${n} people`,
    named: (persons: string, name: string) => `${persons} are now ${name}.`,
    takeBack: (name: string, person: string) => `Remove “${name}” from ${person}`,
    unlinked: (appearances: string) =>
      `Also seen: ${appearances} of people who cannot be identified. They are only counted.`,
  },
};
