"""Reading rendered Kubernetes manifests, for the tests of this folder."""

import json
import re

import yaml

NAME = "oci-backend-drain"


def load(path):
    """The objects of a file of YAML documents, by kind and name."""
    with open(path, encoding="utf-8") as file:
        documents = [document for document in yaml.safe_load_all(file) if document]
    objects = {}
    for document in documents:
        key = (document["kind"], document["metadata"]["name"])
        assert document["apiVersion"] and key not in objects, key
        objects[key] = document
    return objects


def leaves(value, path=""):
    """What a value holds, as lines. Of a list the order says nothing; its named members
    are told apart by their names, others by all that they hold."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}")
    elif isinstance(value, list) and value:
        for inner in value:
            if isinstance(inner, dict) and "name" in inner:
                others = {key: held for key, held in inner.items() if key != "name"}
                yield from leaves(others, f"{path}[{inner['name']}]")
            else:
                yield f"{path}: {json.dumps(inner, sort_keys=True)}"
    else:
        yield f"{path}: {json.dumps(value)}"


def lines(objects):
    return {f"{kind} {name}{leaf}" for (kind, name), value in objects.items()
            for leaf in leaves(value)}


def pod(objects):
    return objects["Deployment", NAME]["spec"]["template"]["spec"]


def container(objects):
    (only,) = pod(objects)["containers"]
    return only


def flags(help_text):
    """The flags of a program with their defaults, from its --help."""
    described = re.findall(r"^  --(\w+)(?:=VALUE)?\n      (.*)$", help_text, re.MULTILINE)
    defaults = {}
    for name, words in described:
        default = re.search(r" \(default (.*)\)$", words)
        defaults[name] = default.group(1) if default else ""
    return defaults
