// Ratings of selects, as stars.
export const RATINGS = [1, 2, 3, 4, 5];

export const stars = (rating: number) => "★".repeat(rating) + "☆".repeat(RATINGS.length - rating);
