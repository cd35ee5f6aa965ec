// Which of the values that are listed somebody means by what they type.
export type Choice = { value: string; name?: string; count?: string };

/**
 * What is typed where it is one of the values, else the first that begins so. Where neither is listed, the
 * typed value itself, or the first of the list where only listed ones may be taken.
 */
export function meant(typed: string, choices: Choice[], free: boolean): string | undefined {
  const wanted = typed.trim().toLowerCase();
  if (!wanted) return undefined;
  const texts = ({ value, name }: Choice) => [value, name ?? ""].map((text) => text.toLowerCase());
  const listed =
    choices.find((one) => texts(one).includes(wanted)) ??
    choices.find((one) => texts(one).some((text) => text.startsWith(wanted)));
  return listed?.value ?? (free ? typed.trim() : choices[0]?.value);
}
