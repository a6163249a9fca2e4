"""Asks Lorewell as an agent would, with the official Python client of the Model Context Protocol:
both ways to open a conversation, on standard input and output and over HTTP, from a server alone and
from a bridge.

client.py PROGRAM HOME VAULT URL HOME_OF_THE_BRIDGE URL_OF_THE_BRIDGE
"""

import asyncio
import json
import sys

import jsonschema
from mcp import Client, MCPError, StdioServerParameters

QUESTION = "what did the physio say about the knee?"


async def main() -> None:
    program, home, vault, url, house, bridge = sys.argv[1:]
    local = StdioServerParameters(
        command=program, args=["mcp", "--bridge", "never", "--vault", vault], env={"HOME": home}
    )
    through = StdioServerParameters(
        command=program,
        args=["mcp", "--local", "--bridge", "require", "--vault", vault],
        env={"HOME": house},
    )
    answers = []
    roads = (("stdio", local), ("http", url), ("stdio to the bridge", through), ("the bridge", bridge))
    for where, server in roads:
        for mode in ("legacy", "auto"):
            async with Client(server, mode=mode) as client:
                answers.append(await ask(client, mode))
            print(f"{where}, {mode}: {client_version[-1]}")
    # One question, eight roads, one answer. The bridge has an index of its own, made at its own time.
    alone = answers[:4]
    # Where a command is not to ask the bridge each answer says so; all else is the same.
    assert not any(ALONE in answer for answer in answers[2:]), "something is said of the bridge"
    alone = alone[:2] + [with_the_line(answer) for answer in alone[2:]]
    assert all(answer == alone[0] for answer in alone), "the answers differ"
    assert all(said(answer) == said(alone[0]) for answer in answers), "the bridge says something else"
    assert len(set(client_version)) == 2, client_version


client_version: list[str] = []

ALONE = "bridge: it is not to be asked; this process answered itself"


def with_the_line(answer: str) -> str:
    """An answer with the line that a server alone puts into each part of it."""
    items = json.loads(answer)
    for item in items:
        item.setdefault("degraded", []).append(ALONE)
    return json.dumps(items, sort_keys=True)


async def ask(client: Client, mode: str) -> str:
    client_version.append(client.protocol_version)
    assert (client.protocol_version == "2026-07-28") == (mode == "auto")
    assert client.instructions.startswith("Search the user's own notes")
    tools = (await client.list_tools()).tools
    assert len(tools) == 6
    for tool in tools:
        for schema in (tool.input_schema, tool.output_schema):
            jsonschema.Draft202012Validator.check_schema(schema)
        assert tool.annotations.read_only_hint

    search = await called(client, "search_notes", query=QUESTION, also=["knee injury advice"])
    best = search["passages"][0]
    assert best["note"] == "Health/Knee.md", best
    lines = "-".join(map(str, best["line_range"]))
    part = await called(client, "read_note", note=best["note"], lines=lines)
    quote = part["text"].strip().splitlines()[-1].strip("-* ")
    context = await called(client, "vault_context", query=QUESTION)
    assert context["text"].count("[1]") == 1 and context["sources"][0]["n"] == 1
    related = await called(client, "related_notes", note=best["note"])
    assert related["related"]
    verified = await called(
        client, "verify_quotes", quotes=[{"quote": quote, "note": best["note"]}]
    )
    assert verified["holds"], verified
    status = await called(client, "vault_status")
    assert status["index"]["notes"] > 0

    wrong = await client.call_tool("read_note", {"note": "no such note at all"})
    assert wrong.is_error and "no_such_note" in wrong.content[0].text
    try:
        await client.call_tool("delete_note", {})
    except MCPError as error:
        assert "Unknown tool" in str(error)
    else:
        raise AssertionError("an unknown tool was answered")

    seen, cursor = set(), None
    while True:
        page = await client.list_resources(cursor=cursor)
        seen.update(str(resource.uri) for resource in page.resources)
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(seen) == status["index"]["notes"], (len(seen), status["index"])
    uri = next(uri for uri in sorted(seen) if uri.startswith("lorewell://"))
    note = await client.read_resource(uri)
    assert note.contents[0].mime_type == "text/markdown"
    prompts = (await client.list_prompts()).prompts
    prompt = await client.get_prompt(prompts[0].name, {"question": QUESTION})
    assert QUESTION in prompt.messages[0].content.text
    return json.dumps([search, part, context, related, verified], sort_keys=True)


def said(answer: str) -> list:
    """What an answer says, without what tells one index from another."""
    search, part, context, related, verified = json.loads(answer)
    return [
        [(passage["note"], passage["byte_range"], passage["text"]) for passage in search["passages"]],
        part["text"],
        context["text"],
        [note["note"] for note in related["related"]],
        [(claim["quote"], claim["verdict"]) for claim in verified["claims"]],
    ]


async def called(client: Client, tool: str, **arguments: object) -> dict:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    assert json.loads(result.content[0].text) == result.structured_content
    assert len(result.content[0].text) < 8000, (tool, len(result.content[0].text))
    return result.structured_content


asyncio.run(main())
