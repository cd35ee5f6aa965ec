# Converts the API document to the input of the client generators; scripts/generate_clients.sh runs it.
# `$target` is python or typescript.

def snake: gsub("(?<upper>[A-Z])"; "_" + (.upper | ascii_downcase)) | ltrimstr("_");

def schema($reference): $reference | ltrimstr("#/components/schemas/");

.components.schemas as $schemas
| ."info"."x-installed" as $installed
| [$installed.analyzers[], $installed.aggregators[], "auto", null] as $ids

# The hand-written layer converts error responses to exceptions and sends the token.
| del(.components.schemas.Error)
| .paths[][] |= (
    del(.security)
    | .responses |= with_entries(select(.key | tonumber < 400)))

# The clients do not support streamed answers.
| del(.paths["/ask"].post.responses["200"].content["text/event-stream"])

# The hand-written layer combines the fields of a request.
| walk(if type == "object" and .properties and .allOf then del(.allOf) else . end)

# The document describes one install; others have other analyzers and filters.
| walk(if type == "object" and (.enum | type) == "array" and .enum != [null] and (.enum - $ids) == [] then del(.enum) else . end)
| .components.schemas.Chunk.properties += (
    $schemas | with_entries(select(.key | endswith("Output"))
        | {key: (.key | rtrimstr("Output") | snake), value: {"$ref": "#/components/schemas/\(.key)"}}))
| .components.schemas.QueryRequest.properties.filters.additionalProperties = true

# Python takes the first variant that matches, so variants with more required fields come first.
| .components.schemas[] |= (
    if .oneOf then .oneOf |= sort_by(-($schemas[schema(.["$ref"])].required | length)) else . end)

# An object with arbitrary keys is a dictionary. In TypeScript, a type for all keys would also apply to named ones.
| walk(if type == "object" and .type == "object" and ([.properties, .additionalProperties, .oneOf, .allOf] | all(. == null))
    then (if $target == "python" then del(.type) else .additionalProperties = true end) else . end)
| if $target == "python" then . else
    walk(if type == "object" and .properties and (.additionalProperties | type) == "object"
        then .additionalProperties = true else . end)
  end
