// The user-defined order of the timeline's lanes.

/**
 * Sorts lanes by the user's order. A lane that was never moved follows the lane that precedes it by
 * default.
 */
export function orderLanes<T extends { id: string }>(natural: T[], order: string[]): T[] {
  const rank = new Map(fullOrder(natural, order).map((id, index) => [id, index]));
  return natural.toSorted((a, b) => rank.get(a.id)! - rank.get(b.id)!);
}

/** The order after moving a lane up (-1) or down (1) by one. */
export function moveLane(natural: { id: string }[], order: string[], id: string, by: -1 | 1): string[] {
  const visibleOrder = orderLanes(natural, order).map((lane) => lane.id);
  const other = visibleOrder[visibleOrder.indexOf(id) + by];
  if (other === undefined) return order;
  const rest = fullOrder(natural, order).filter((one) => one !== id);
  const place = rest.indexOf(other);
  return rest.toSpliced(by < 0 ? place : place + 1, 0, id);
}

/** The order of all known lanes and those of this video. */
function fullOrder(natural: { id: string }[], order: string[]): string[] {
  const whole = [...order];
  natural.forEach(({ id }, index) => {
    if (!whole.includes(id)) whole.splice(index ? whole.indexOf(natural[index - 1].id) + 1 : 0, 0, id);
  });
  return whole;
}
