"""Holds our transcription of the OTLP schema in `proto/` against the descriptors of the official Python package.

Every message, field (number, name, type, label, oneof, presence), enum value and service method that the package has
must be in `proto/`, and the same. What `proto/` has beyond it must be listed in `proto_newer.txt`: a newer version of
the specification than the package's, on purpose.
"""

import pkgutil
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from google.protobuf import descriptor_pb2

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def official():
    """The package's own file descriptors, by file name."""
    import opentelemetry.proto

    files = {}
    for module in pkgutil.walk_packages(opentelemetry.proto.__path__, "opentelemetry.proto."):
        if module.name.endswith("_pb2"):
            file = descriptor_pb2.FileDescriptorProto()
            import_module(module.name).DESCRIPTOR.CopyToProto(file)
            files[file.name] = file
    # Folders without __init__.py are not walked: import by path what is left.
    for folder in opentelemetry.proto.__path__:
        for path in Path(folder).rglob("*_pb2.py"):
            name = ".".join(("opentelemetry", "proto", *path.relative_to(folder).with_suffix("").parts))
            file = descriptor_pb2.FileDescriptorProto()
            import_module(name).DESCRIPTOR.CopyToProto(file)
            files[file.name] = file
    return list(files.values())


def ours():
    """`proto/`, compiled by the official compiler."""
    sources = sorted(str(p.relative_to(ROOT / "proto")) for p in (ROOT / "proto").rglob("*.proto"))
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "set"
        command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{ROOT / 'proto'}", f"--descriptor_set_out={out}"]
        subprocess.run([*command, *sources], check=True)
        return list(descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file)


def facts(files):
    """One fact a name: what each field, enum value and method is on the wire and in JSON."""
    known = {}
    for file in files:
        for message in file.message_type:
            message_facts(known, file.package, message)
        for enum in file.enum_type:
            enum_facts(known, file.package, enum)
        for service in file.service:
            for method in service.method:
                name = f"{file.package}.{service.name}/{method.name}"
                streams = (method.client_streaming, method.server_streaming)
                known[name] = (method.input_type, method.output_type, *streams)
    return known


def message_facts(known, scope, message):
    name = f"{scope}.{message.name}"
    known[name] = "message"
    for field in message.field:
        # A proto3 `optional` field sits alone in a oneof of the compiler's making.
        oneof = ""
        if field.HasField("oneof_index") and not field.proto3_optional:
            oneof = message.oneof_decl[field.oneof_index].name
        kind = descriptor_pb2.FieldDescriptorProto.Type.Name(field.type)
        label = descriptor_pb2.FieldDescriptorProto.Label.Name(field.label)
        json_name = field.json_name or camel(field.name)
        fact = (field.number, kind, field.type_name, label, oneof, field.proto3_optional, json_name)
        known[f"{name}.{field.name}"] = fact
    for nested in message.nested_type:
        message_facts(known, name, nested)
    for enum in message.enum_type:
        enum_facts(known, name, enum)


def enum_facts(known, scope, enum):
    for value in enum.value:
        known[f"{scope}.{enum.name}.{value.name}"] = value.number


def camel(name):
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)


def main():
    theirs, mine = facts(official()), facts(ours())
    newer = {line for line in (HERE / "proto_newer.txt").read_text().splitlines() if line and line[0] != "#"}
    problems = [f"missing in proto/: {name} {theirs[name]}" for name in sorted(theirs.keys() - mine.keys())]
    for name in sorted(theirs.keys() & mine.keys()):
        if theirs[name] != mine[name]:
            problems.append(f"different: {name}: package {theirs[name]}, proto/ {mine[name]}")
    extra = mine.keys() - theirs.keys()
    problems += [f"only in proto/, not in proto_newer.txt: {name} {mine[name]}" for name in sorted(extra - newer)]
    problems += [f"in proto_newer.txt, but no longer newer: {name}" for name in sorted(newer - extra)]
    print("\n".join(problems))
    print(f"proto/: {len(mine)} facts, official package: {len(theirs)}, listed as newer: {len(newer)}")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
