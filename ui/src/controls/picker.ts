// Matches typed text to a listed choice.
export type Choice = { value: string; name?: string; count?: string };

/**
 * The choice that equals the typed text, else the first with this prefix. Without a match, the typed text
 * itself if `free`, else the first choice.
 */
export function matchChoice(typed: string, choices: Choice[], free: boolean): string | undefined {
  const query = typed.trim().toLowerCase();
  if (!query) return undefined;
  const texts = ({ value, name }: Choice) => [value, name ?? ""].map((text) => text.toLowerCase());
  const match =
    choices.find((one) => texts(one).includes(query)) ??
    choices.find((one) => texts(one).some((text) => text.startsWith(query)));
  return match?.value ?? (free ? typed.trim() : choices[0]?.value);
}
