import os
import pathlib

import anthropic

# The only two lines that differ from the hosted service.
client = anthropic.Anthropic(
    base_url=os.environ.get("TANDEM_URL", "http://127.0.0.1:4760"),
    api_key=(pathlib.Path.home() / ".tandem/token").read_text().strip(),
)

agent = client.beta.agents.create(
    name="Coding Assistant",
    model="claude-sonnet-5-5",
    system="You are a helpful coding assistant.",
    tools=[{"type": "agent_toolset_20260401"}],
)
environment = client.beta.environments.create(
    name="quickstart", config={"type": "cloud", "networking": {"type": "unrestricted"}}
)
session = client.beta.sessions.create(agent=agent.id, environment_id=environment.id)

with client.beta.sessions.events.stream(session.id) as stream:
    client.beta.sessions.events.send(
        session.id,
        events=[{"type": "user.message", "content": [{"type": "text", "text": "Write hello.txt with the word hello in it."}]}],
    )
    for event in stream:
        if event.type == "agent.message":
            print("".join(block.text for block in event.content))
        elif event.type == "agent.tool_use":
            print(f"[{event.name}: {event.evaluated_permission}]")
        elif event.type == "session.status_idle":
            if event.stop_reason.type != "requires_action":
                break
            # Writing asks first here: this is your own machine.
            client.beta.sessions.events.send(
                session.id,
                events=[
                    {"type": "user.tool_confirmation", "tool_use_id": id, "result": "allow"}
                    for id in event.stop_reason.event_ids
                ],
            )

events = list(client.beta.sessions.events.list(session.id))
print(f"{len(events)} events, the last is {events[-1].type}")
