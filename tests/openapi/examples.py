"""Holds every example of an OpenAPI document against its schema, with the validator that judges the document itself.

    python examples.py docs/reference/openapi.yaml

A form is checked as its parameters are read: numbers as numbers, lists as lists. Replies are checked as JSON; that XML
says the same is for the readers of this project to see. Prints how many were checked.
"""

import sys

import yaml
from openapi_schema_validator import OAS31Validator

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}


def resolved(document, node):
    """The node, or what it refers to."""
    while "$ref" in node:
        found = document
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part.replace("~1", "/").replace("~0", "~")]
        node = found
    return node


def mistakes(document, schema, value):
    whole = {"components": document["components"], "allOf": [schema]}
    return [f"{'/'.join(map(str, error.path))}: {error.message}" for error in OAS31Validator(whole).iter_errors(value)]


def examples(media):
    """The values that a media type shows."""
    if "example" in media:
        yield "example", media["example"]
    for name, example in media.get("examples", {}).items():
        yield name, example["value"]


def main(path):
    with open(path, encoding="utf-8") as file:
        document = yaml.safe_load(file)
    checked, wrong, without = 0, [], []
    for url, item in document["paths"].items():
        for operation in (item[method] for method in METHODS & item.keys()):
            request = resolved(document, operation["requestBody"])
            replies = {status: resolved(document, reply) for status, reply in operation["responses"].items()}
            for what, holder in {"request": request, **replies}.items():
                for media_type, media in holder.get("content", {}).items():
                    shown = list(examples(media))
                    if not shown:
                        without.append(f"{url} {what} {media_type}")
                    for name, value in shown if media_type != "application/xml" else []:
                        checked += 1
                        wrong += [f"{url} {what} {name}: {text}" for text in mistakes(document, media["schema"], value)]
    print(f"{checked} examples checked, {len(wrong)} mistakes, {len(without)} media types without an example")
    print("\n".join(wrong + without), end="")
    return 1 if wrong or without or not checked else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
