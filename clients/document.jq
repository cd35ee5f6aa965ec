# The API document as the generators of the clients take it; scripts/generate_clients.sh runs it.
# `$target` is python or typescript.

def snake: gsub("(?<upper>[A-Z])"; "_" + (.upper | ascii_downcase)) | ltrimstr("_");

def schema($reference): $reference | ltrimstr("#/components/schemas/");

.components.schemas as $schemas
| ."info"."x-installed" as $installed
| [$installed.analyzers[], $installed.aggregators[], "auto", null] as $ids

# Errors have one shape, which the layer above turns into exceptions, and it sends the token.
| del(.components.schemas.Error)
| .paths[][] |= (
    del(.security)
    | .responses |= with_entries(select(.key | tonumber < 400)))

# Answers come whole: nobody but the page reads them as they are made.
| del(.paths["/ask"].post.responses["200"].content["text/event-stream"])

# The document is that of one install: another one has other analyzers, and filters of its own.
| walk(if type == "object" and (.enum | type) == "array" and .enum != [null] and (.enum - $ids) == [] then del(.enum) else . end)
| .components.schemas.Chunk.properties += (
    $schemas | with_entries(select(.key | endswith("Output"))
        | {key: (.key | rtrimstr("Output") | snake), value: {"$ref": "#/components/schemas/\(.key)"}}))
| .components.schemas.QueryRequest.properties.filters.additionalProperties = true

# The first variant that fits is taken in Python, so those that ask for more come first.
| .components.schemas[] |= (
    if .oneOf then .oneOf |= sort_by(-($schemas[schema(.["$ref"])].required | length)) else . end)

# An object of any keys is a dictionary; in TypeScript what all keys have would hold of named ones too.
| walk(if type == "object" and .type == "object" and ([.properties, .additionalProperties, .oneOf, .allOf] | all(. == null))
    then (if $target == "python" then del(.type) else .additionalProperties = true end) else . end)
| if $target == "python" then . else
    walk(if type == "object" and .properties and (.additionalProperties | type) == "object"
        then .additionalProperties = true else . end)
  end
