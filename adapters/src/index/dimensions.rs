//! The dimension of each vector field.

use ports::index::PictureSpace;
use ports::{ErrorKind, PortError, Result};

/// The dimension of each vector field of an index.
#[derive(Debug, Clone)]
pub(super) struct Dimensions {
    /// Number of components in each vector, except in the picture fields.
    pub(super) text: usize,
    /// The picture fields, if the index has any.
    pub(super) pictures: Option<PictureSpace>,
}

impl Dimensions {
    /// Returns `Invalid` if a dimension is 0.
    pub(super) fn check(&self) -> Result<()> {
        let smallest = self.pictures.iter().fold(self.text, |min, of| min.min(of.dimension));
        if smallest == 0 {
            let message = "a dimension of the index is 0; at least 1 is expected";
            return Err(PortError::new(ErrorKind::Invalid, message));
        }
        Ok(())
    }

    /// Returns the number of components in each vector of a field.
    pub(super) fn for_field(&self, field: &str) -> usize {
        self.picture_space(field).map_or(self.text, |pictures| pictures.dimension)
    }

    /// Returns the picture space if it has this field.
    pub(super) fn picture_space(&self, field: &str) -> Option<&PictureSpace> {
        self.pictures.as_ref().filter(|pictures| pictures.fields.iter().any(|known| known == field))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picture_fields_have_their_own_dimension() {
        let pictures =
            PictureSpace { fields: vec!["still".into()], dimension: 640, model: "p".into() };
        let both = Dimensions { text: 384, pictures: Some(pictures.clone()) };
        assert_eq!([both.for_field("still"), both.for_field("combined")], [640, 384]);
        assert!(both.check().is_ok());
        let text = Dimensions { text: 384, pictures: None };
        assert_eq!(text.for_field("still"), 384);
        assert!(text.check().is_ok());
        let empty = PictureSpace { dimension: 0, ..pictures };
        assert!(Dimensions { text: 384, pictures: Some(empty) }.check().is_err());
        assert!(Dimensions { text: 0, pictures: None }.check().is_err());
    }
}
