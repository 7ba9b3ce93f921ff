import { type KeptRule, RULE_ACTIONS, RULE_SCOPES, type RuleAction, type RuleScope } from "@tandem/protocol";
import { useState } from "react";
import { useServerQuery } from "../../api/use-server-query.ts";
import { api } from "../../api/client.ts";
import { useAgents } from "../../api/lists.ts";
import { folderName } from "../../text/path-labels.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Badge, ListPanel, PageHead, Panel, Row } from "../panel.tsx";
import { ruleText } from "../../text/rule-text.ts";
import { ACTION_TONES, TestRule } from "./test-rule.tsx";
import { useChange } from "../../api/use-change.ts";
import { AgentField } from "../agent-field.tsx";
import { TextField } from "../../ui/field.tsx";
import { useForm } from "../../ui/use-form.ts";
import { SelectField } from "../../ui/select.tsx";

const KEY = ["/v1/rules"];

/** Rules that allow, ask for or deny calls. */
export default function RulesPage() {
  const agents = useAgents();
  const list = useServerQuery("rules.list", {});
  const [ended, setEnded] = useState<KeptRule>();
  const whose = ({ scope, of }: KeptRule): string => {
    if (scope === "user" || of === null) return "everywhere";
    if (scope === "agent") return `agent ${agents.data?.find(({ id }) => id === of)?.name ?? of}`;
    return scope === "project" ? `project ${folderName(of)}` : "one session";
  };
  return (
    <>
      <PageHead title="Rules">
        Rules decide which tool calls are allowed, need approval or are denied. A deny rule always wins; otherwise the
        most specific scope decides.
      </PageHead>
      <Problem error={list.error} onRetry={() => void list.refetch()} className="mb-4" />
      <ListPanel
        items={list.data?.data}
        empty={
          <Empty title="No rules yet">
            Each session&apos;s mode and its agent&apos;s policy decide. Choosing “Always allow” on an approval creates
            a rule.
          </Empty>
        }
      >
        {(rule, index) => (
          <Row key={rule.id ?? index}>
            <span className="w-12">
              <Badge tone={ACTION_TONES[rule.action]}>{rule.action}</Badge>
            </span>
            <div className="min-w-40 flex-1">
              <p className="font-mono text-sm break-all">{ruleText(rule)}</p>
              <p className="text-sm text-ink-faint">
                {whose(rule)}, from {rule.source}
                {rule.reason !== undefined && `: ${rule.reason}`}
              </p>
            </div>
            {rule.id !== null && (
              <Button look="quiet" size="small" onClick={() => setEnded(rule)}>
                Remove …
              </Button>
            )}
          </Row>
        )}
      </ListPanel>
      <TestRule />
      <AddRule />
      {ended && (
        <Confirm
          onClose={() => setEnded(undefined)}
          title="Remove this rule?"
          verb="Remove"
          act={() => api.call("rules.delete", { params: { rule_id: ended.id ?? "" } })}
          reloads={KEY}
        >
          <p className="font-mono">{ended && `${ended.action} ${ruleText(ended)}`}</p>
          <p className="mt-1">Takes effect with each session’s next tool call.</p>
        </Confirm>
      )}
    </>
  );
}

const SCOPE_WORDS = { user: "Everywhere", project: "A project", agent: "An agent", session: "A session" } as const;

const NO_RULE = {
  action: "ask" as RuleAction,
  tool: "",
  pattern: "",
  reason: "",
  scope: "user" as RuleScope,
  of: "",
};

function AddRule() {
  const { form, set, field } = useForm(NO_RULE);
  const add = useChange(
    KEY,
    () =>
      api.call("rules.create", {
        body: {
          action: form.action,
          tool: form.tool.trim(),
          ...(form.pattern.trim() !== "" && { pattern: form.pattern.trim() }),
          ...(form.reason.trim() !== "" && { reason: form.reason.trim() }),
          scope: form.scope,
          ...(form.scope !== "user" && { of: form.of.trim() }),
        },
      }),
    () => set({ tool: "", pattern: "", reason: "" }),
  );
  const code = (key: "tool" | "pattern" | "of") => ({ ...field(key), inputClassName: "font-mono" });
  const isReady = form.tool.trim() !== "" && (form.scope === "user" || form.of.trim() !== "");
  return (
    <Panel title="Add a rule">
      <form
        className="grid gap-3 p-3 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate();
        }}
      >
        <SelectField
          label="Action"
          {...field("action")}
          options={RULE_ACTIONS.map((action) => ({ value: action, label: action }))}
        />
        <SelectField
          label="Scope"
          value={form.scope}
          onChange={(scope) => set({ scope, of: "" })}
          options={RULE_SCOPES.map((scope) => ({ value: scope, label: SCOPE_WORDS[scope] }))}
        />
        {form.scope === "agent" && <AgentField className="sm:col-span-2" none="Select an agent" {...field("of")} />}
        {form.scope === "project" && (
          <TextField label="Project folder" className="sm:col-span-2" placeholder="/home/me/project" {...code("of")} />
        )}
        {form.scope === "session" && (
          <TextField label="Session id" className="sm:col-span-2" placeholder="sesn_…" {...code("of")} />
        )}
        <TextField
          label="Tool"
          hint="One tool (Bash, Edit, mcp__SERVER__TOOL), a group (read, edit, web), or *"
          placeholder="Bash"
          {...code("tool")}
        />
        <TextField
          label="Calls"
          hint="A command, path or domain with * and **. Empty means all."
          placeholder="git push *"
          {...code("pattern")}
        />
        <TextField
          label="Reason"
          className="sm:col-span-2"
          placeholder="Shown to people who read the rule"
          {...field("reason")}
        />
        <Problem error={add.error} className="sm:col-span-2" />
        <div className="flex items-center gap-3">
          <Button type="submit" look="primary" disabled={!isReady || add.isPending}>
            Add
          </Button>
          {add.isSuccess && <output className="text-sm text-good">Added.</output>}
        </div>
      </form>
    </Panel>
  );
}
