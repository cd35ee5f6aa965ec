// Which of the values that are listed somebody means by what they type.
export type Choice = { value: string; name?: string; count?: string };

/**
 * What is typed where it is one of the values, else the first that begins so. Where neither is listed, the
 * typed value itself, or the first of the list where only listed ones may be taken.
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
