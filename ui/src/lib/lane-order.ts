// The order of the timeline's lanes, which the reader may change.

/**
 * The lanes in the reader's order. One that the reader never moved stays behind the lane that naturally comes
 * before it.
 */
export function orderLanes<T extends { id: string }>(natural: T[], order: string[]): T[] {
  const rank = new Map(fullOrder(natural, order).map((id, index) => [id, index]));
  return natural.toSorted((a, b) => rank.get(a.id)! - rank.get(b.id)!);
}

/** The reader's order once a lane has changed places with the one shown above (-1) or below (1) it. */
export function moveLane(natural: { id: string }[], order: string[], id: string, by: -1 | 1): string[] {
  const shown = orderLanes(natural, order).map((lane) => lane.id);
  const other = shown[shown.indexOf(id) + by];
  if (other === undefined) return order;
  const rest = fullOrder(natural, order).filter((one) => one !== id);
  const place = rest.indexOf(other);
  return rest.toSpliced(by < 0 ? place : place + 1, 0, id);
}

/** Of the lanes that were ever moved past and those of this video. */
function fullOrder(natural: { id: string }[], order: string[]): string[] {
  const whole = [...order];
  natural.forEach(({ id }, index) => {
    if (!whole.includes(id)) whole.splice(index ? whole.indexOf(natural[index - 1].id) + 1 : 0, 0, id);
  });
  return whole;
}
