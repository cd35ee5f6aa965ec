//! The suite for adapters of the `embedder` port.

use crate::embedder::Embedder;
use crate::vector::dot;

const SENTENCES: &[&str] = &[
    "a person riding a bike",
    "A man in a red shirt walks into the room and sits down at the table.",
    "quarterly revenue fell by ten percent",
    "GOOGLE PARIS",
    "How old is the Brooklyn Bridge?",
    "hello",
    "naïve café — Žluťoučký kůň 🚲 東京の夜",
    "12.5",
];

/// Checks every requirement of the port.
pub async fn check(embedder: &dyn Embedder) {
    assert!(!embedder.model().is_empty(), "model() names the model");
    assert!(embedder.dimension() > 0, "dimension() is known");
    no_texts_yield_no_vectors(embedder).await;
    vectors_are_unit_and_in_order(embedder).await;
    vectors_are_independent_of_the_batch(embedder).await;
    unusual_texts_have_vectors(embedder).await;
    long_texts_are_truncated(embedder).await;
    many_texts_keep_their_order(embedder).await;
    similar_texts_have_higher_cosine(embedder).await;
    token_count_covers_whole_text(embedder).await;
}

async fn token_count_covers_whole_text(embedder: &dyn Embedder) {
    let sentence = "The old harbour lies quiet in the evening light. ";
    let texts = ["", sentence, &sentence.repeat(2), &sentence.repeat(400)].map(str::to_owned);
    let counts = embedder.count_tokens(&texts).await.expect("counts");
    assert_eq!(counts.len(), texts.len(), "one count per text");
    assert_eq!(counts[0], 0, "an empty text has no tokens");
    assert!((8..=20).contains(&counts[1]), "{} tokens of {sentence:?}", counts[1]);
    let long = counts[1] * 350..=counts[1] * 400;
    assert!(long.contains(&counts[3]), "{} and {} of 400 times as much", counts[1], counts[3]);
}

async fn no_texts_yield_no_vectors(embedder: &dyn Embedder) {
    assert!(embed(embedder, &[]).await.is_empty(), "no texts, no vectors");
}

async fn vectors_are_unit_and_in_order(embedder: &dyn Embedder) {
    let together = embed(embedder, SENTENCES).await;
    for (text, vector) in SENTENCES.iter().zip(&together) {
        let alone = embed(embedder, &[text]).await;
        let cosine = dot(vector, &alone[0]);
        assert!(cosine > 0.999, "{text:?} alone and among others has the cosine {cosine}");
    }
}

async fn vectors_are_independent_of_the_batch(embedder: &dyn Embedder) {
    let long = "The old harbour lies quiet in the evening light. ".repeat(30);
    for text in SENTENCES {
        let batch = embed(embedder, &[&long, "x", text, "", &long]).await;
        let alone = embed(embedder, &[text]).await;
        let cosine = dot(&batch[2], &alone[0]);
        assert!(cosine > 0.999, "{text:?} next to a long text has the cosine {cosine}");
        let twice = dot(&batch[0], &batch[4]);
        assert!(twice > 0.999, "the same text twice in a call has the cosine {twice}");
    }
}

async fn unusual_texts_have_vectors(embedder: &dyn Embedder) {
    let odd = ["", " ", "\n\t", "\u{0}", "...", "🚲🚲", "\u{202e}abc\u{301}", "the of and"];
    embed(embedder, &odd).await;
}

async fn long_texts_are_truncated(embedder: &dyn Embedder) {
    let words = "word sentence paragraph chapter ".repeat(20_000);
    let unbroken = "ab".repeat(200_000);
    let wide = "東京🚲".repeat(50_000);
    embed(embedder, &[&words, &unbroken, &wide]).await;
}

async fn many_texts_keep_their_order(embedder: &dyn Embedder) {
    let texts: Vec<String> =
        (0..70).map(|n| format!("{} number {n}", SENTENCES[n % SENTENCES.len()])).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embed(embedder, &texts).await;
    for at in [0, 1, 33, 69] {
        let alone = embed(embedder, &[texts[at]]).await;
        let cosine = dot(&vectors[at], &alone[0]);
        assert!(cosine > 0.999, "text {at} of 70 has the cosine {cosine} with itself");
    }
}

async fn similar_texts_have_higher_cosine(embedder: &dyn Embedder) {
    let vectors = embed(
        embedder,
        &[
            "a woman rides a red bicycle",
            "the woman on the red bicycle",
            "quarterly revenue fell by ten percent",
        ],
    )
    .await;
    let near = dot(&vectors[0], &vectors[1]);
    let far = dot(&vectors[0], &vectors[2]);
    assert!(near > far + 0.1, "like texts have {near}, unlike ones {far}");
}

async fn embed(embedder: &dyn Embedder, texts: &[&str]) -> Vec<Vec<f32>> {
    let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
    let vectors = embedder.embed(&texts).await.expect("embeds");
    assert_eq!(vectors.len(), texts.len(), "one vector per text");
    for (vector, text) in vectors.iter().zip(&texts) {
        let shown: String = text.chars().take(40).collect();
        assert_eq!(vector.len(), embedder.dimension(), "the vector of {shown:?} has the dimension");
        let norm = dot(vector, vector).sqrt();
        assert!((norm - 1.0).abs() < 1e-3, "the vector of {shown:?} has the length {norm}");
    }
    vectors
}
