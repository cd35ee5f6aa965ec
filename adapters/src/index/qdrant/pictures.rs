//! The picture fields of a collection. A collection that was created before the service computed
//! vectors of pictures, or with another picture model, stays in use without these fields.

use ports::Result;
use ports::index::PictureSpace;
use qdrant_client::qdrant::{CollectionConfig, Distance, value};

use super::QdrantIndex;
use super::collection::named_vectors;

/// The metadata key for the model of the picture fields.
pub(super) const MODEL: &str = "picture_model";

impl QdrantIndex {
    /// Returns whether the collection holds vectors in this field.
    pub(super) async fn has_field(&self, field: &str) -> Result<bool> {
        if self.dimensions.picture_space(field).is_none() {
            return Ok(self.options.fields.iter().any(|known| known == field));
        }
        Ok(self.picture_fields().await?.iter().any(|known| known == field))
    }

    /// Returns the picture fields that the collection has. While any is missing, every call asks
    /// the server, because a rebuild may have replaced the collection behind the alias.
    pub(super) async fn picture_fields(&self) -> Result<Vec<String>> {
        let Some(space) = &self.options.pictures else { return Ok(Vec::new()) };
        if self.pictures_complete.get().is_some() {
            return Ok(space.fields.clone());
        }
        let fields = usable_fields(&self.config(&self.target).await?, space);
        if fields.len() == space.fields.len() {
            self.pictures_complete.get_or_init(|| ());
        }
        Ok(fields)
    }

    /// Returns the advice to rebuild the collection if it lacks picture fields.
    pub(super) async fn missing_pictures(&self) -> Result<Option<String>> {
        let Some(space) = &self.options.pictures else { return Ok(None) };
        let found = self.picture_fields().await?;
        let missing = space.fields.iter().filter(|field| !found.contains(field));
        let missing: Vec<String> = missing.map(|field| format!("`{field}`")).collect();
        Ok((!missing.is_empty()).then(|| {
            format!(
                "the Qdrant collection {:?} holds no vectors of pictures from the model {} in {}, \
                 so searches by picture find nothing there; `shotlog reindex` fills a new \
                 collection that has them",
                self.options.collection,
                space.model,
                missing.join(" and "),
            )
        }))
    }
}

/// Returns the fields of `space` that hold vectors of its model and dimension in a collection with
/// this configuration.
fn usable_fields(config: &CollectionConfig, space: &PictureSpace) -> Vec<String> {
    let model = config.metadata.get(MODEL).and_then(|model| model.kind.as_ref());
    let same_model =
        matches!(model, Some(value::Kind::StringValue(model)) if *model == space.model);
    let Some(named) = named_vectors(config).filter(|_| same_model) else { return Vec::new() };
    let is_usable = |field: &&String| {
        named.get(*field).is_some_and(|params| {
            params.size == space.dimension as u64 && params.distance == Distance::Cosine as i32
        })
    };
    space.fields.iter().filter(is_usable).cloned().collect()
}

#[cfg(test)]
mod tests {
    use qdrant_client::qdrant::{
        CollectionParams, Value, VectorParams, VectorParamsMap, VectorsConfig, vectors_config,
    };

    use super::*;

    fn space(fields: &[&str]) -> PictureSpace {
        let fields = fields.iter().map(|&field| field.to_owned()).collect();
        PictureSpace { fields, dimension: 640, model: "clip".into() }
    }

    /// Returns the configuration of a collection with these fields and sizes.
    fn collection(model: Option<&str>, fields: &[(&str, u64, Distance)]) -> CollectionConfig {
        let params = |&(name, size, distance): &(&str, u64, Distance)| {
            let distance = distance as i32;
            (name.to_owned(), VectorParams { size, distance, ..VectorParams::default() })
        };
        let map = VectorParamsMap { map: fields.iter().map(params).collect() };
        let vectors = VectorsConfig { config: Some(vectors_config::Config::ParamsMap(map)) };
        let metadata = model.map(|model| (MODEL.to_owned(), Value::from(model)));
        CollectionConfig {
            params: Some(CollectionParams {
                vectors_config: Some(vectors),
                ..CollectionParams::default()
            }),
            metadata: metadata.into_iter().collect(),
            ..CollectionConfig::default()
        }
    }

    #[test]
    fn fields_are_usable_with_the_same_model_size_and_distance() {
        let (text, cosine) = (("combined", 384, Distance::Cosine), Distance::Cosine);
        let (still, motion) = (("still", 640, cosine), ("motion", 640, cosine));
        let dot = ("motion", 640, Distance::Dot);
        let wide = ("motion", 768, cosine);
        let cases: &[(Option<&str>, &[_], &[&str])] = &[
            (Some("clip"), &[text, still, motion], &["still", "motion"]),
            (Some("clip"), &[text, still], &["still"]),
            (Some("clip"), &[text, still, wide], &["still"]),
            (Some("clip"), &[text, still, dot], &["still"]),
            (Some("clip"), &[text], &[]),
            (Some("another"), &[text, still, motion], &[]),
            (None, &[text, still, motion], &[]),
        ];
        for (model, fields, expected) in cases {
            let found = usable_fields(&collection(*model, fields), &space(&["still", "motion"]));
            assert_eq!(found, *expected, "{model:?} {fields:?}");
        }
        assert!(usable_fields(&CollectionConfig::default(), &space(&["still"])).is_empty());
    }
}
