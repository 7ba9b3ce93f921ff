import type { Agent } from "@tandem/protocol";
import { Bot } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useAgents } from "../../api/lists.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/problem.tsx";
import { AddButton } from "../add-button.tsx";
import { Badge, ListPanel, PageHead, Row } from "../panel.tsx";
import { AgentForm } from "./agent-form.tsx";
import { AgentVersions } from "./agent-versions.tsx";

type Open = { kind: "edit"; agent: Agent | undefined } | { kind: "versions" | "archive"; agent: Agent };

/** Agent definitions. A change creates a new version; running sessions keep theirs. */
export default function AgentsPage() {
  const list = useAgents();
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  return (
    <>
      <PageHead
        title="Agents"
        action={<AddButton onClick={() => setOpen({ kind: "edit", agent: undefined })}>New agent</AddButton>}
      >
        An agent has a model, instructions, tools and a tool policy. Each change creates a new version; existing
        sessions keep theirs.
      </PageHead>
      <Problem error={list.error} onRetry={() => void list.refetch()} className="mb-4" />
      <ListPanel
        items={list.data}
        empty={<Empty title="No agents yet">Your first session creates one, or create one now.</Empty>}
      >
        {(agent) => (
          <Row key={agent.id}>
            <Bot aria-hidden className="size-4 shrink-0 text-ink-faint" />
            <div className="min-w-40 flex-1">
              <p className="flex flex-wrap items-center gap-2 font-medium">
                {agent.name} <Badge>version {agent.version}</Badge>
              </p>
              <p className="text-sm text-ink-faint">
                {[agent.model.id, agent.model.effort?.type, agent.description].filter(Boolean).join(" · ")}
              </p>
            </div>
            <div className="flex">
              <Button look="quiet" size="small" onClick={() => setOpen({ kind: "edit", agent })}>
                Edit
              </Button>
              <Button look="quiet" size="small" onClick={() => setOpen({ kind: "versions", agent })}>
                Versions
              </Button>
              <Button look="quiet" size="small" onClick={() => setOpen({ kind: "archive", agent })}>
                Archive …
              </Button>
            </div>
          </Row>
        )}
      </ListPanel>
      {open?.kind === "edit" && <AgentForm agent={open.agent} onClose={close} />}
      {open?.kind === "versions" && <AgentVersions agent={open.agent} onClose={close} />}
      {open?.kind === "archive" && (
        <Confirm
          onClose={close}
          title={`Archive ${open.agent.name}?`}
          verb="Archive"
          act={() => api.call("agents.archive", { params: { agent_id: open.agent.id } })}
          reloads={["/v1/agents"]}
        >
          New sessions cannot use it. Existing sessions continue.
        </Confirm>
      )}
    </>
  );
}
