import { type KeptRule, RULE_ACTIONS, RULE_SCOPES, type RuleAction, type RuleScope } from "@tandem/protocol";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useAgents } from "../../api/lists.ts";
import { folderName } from "../../text/path-labels.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Select } from "../../ui/select.tsx";
import { Badge, PageHead, Panel, Row, Rows } from "../panel.tsx";
import { ruleText } from "../../text/rule-text.ts";
import { ACTION_TONES, TestRule } from "./test-rule.tsx";

const KEY = ["/v1/rules"];

/** Rules that allow, ask for or deny calls. */
export default function RulesPage() {
  const queries = useQueryClient();
  const agents = useAgents();
  const list = useQuery({ queryKey: KEY, queryFn: ({ signal }) => api.call("rules.list", { signal }) });
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
      {list.data?.data.length === 0 && (
        <Empty title="No rules yet">
          Each session&apos;s mode and its agent&apos;s policy decide. Choosing “Always allow” on an approval creates a
          rule.
        </Empty>
      )}
      {list.data && list.data.data.length > 0 && (
        <Panel>
          <Rows>
            {list.data.data.map((rule, index) => (
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
            ))}
          </Rows>
        </Panel>
      )}
      <TestRule />
      <AddRule onAdded={() => void queries.invalidateQueries({ queryKey: KEY })} />
      <Confirm
        isOpen={ended !== undefined}
        onOpenChange={() => setEnded(undefined)}
        title="Remove this rule?"
        verb="Remove"
        act={async () => {
          await api.call("rules.delete", { params: { rule_id: ended?.id ?? "" } });
          await queries.invalidateQueries({ queryKey: KEY });
        }}
      >
        <p className="font-mono">{ended && `${ended.action} ${ruleText(ended)}`}</p>
        <p className="mt-1">Takes effect with each session’s next tool call.</p>
      </Confirm>
    </>
  );
}

const SCOPE_WORDS = { user: "Everywhere", project: "A project", agent: "An agent", session: "A session" } as const;

interface NewRule {
  action: RuleAction;
  tool: string;
  pattern: string;
  reason: string;
  scope: RuleScope;
  of: string;
}

function AddRule({ onAdded }: { onAdded: () => void }) {
  const agents = useAgents();
  const [form, setForm] = useState<NewRule>({
    action: "ask",
    tool: "",
    pattern: "",
    reason: "",
    scope: "user",
    of: "",
  });
  const set = (part: Partial<NewRule>): void => setForm({ ...form, ...part });
  const add = useMutation({
    mutationFn: () =>
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
    onSuccess: () => {
      set({ tool: "", pattern: "", reason: "" });
      onAdded();
    },
  });
  const text = (key: "tool" | "pattern" | "reason" | "of", placeholder: string) => (ids: object) => (
    <TextInput
      {...ids}
      placeholder={placeholder}
      className={key === "reason" ? "" : "font-mono"}
      value={form[key]}
      onChange={(event) => set({ [key]: event.target.value })}
    />
  );
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
        <Field label="Action">
          {(ids) => (
            <Select
              {...ids}
              className="w-full"
              value={form.action}
              onChange={(action) => set({ action })}
              options={RULE_ACTIONS.map((action) => ({ value: action, label: action }))}
            />
          )}
        </Field>
        <Field label="Scope">
          {(ids) => (
            <Select
              {...ids}
              className="w-full"
              value={form.scope}
              onChange={(scope) => set({ scope, of: "" })}
              options={RULE_SCOPES.map((scope) => ({ value: scope, label: SCOPE_WORDS[scope] }))}
            />
          )}
        </Field>
        {form.scope === "agent" && (
          <Field label="Agent" className="sm:col-span-2">
            {(ids) => (
              <Select
                {...ids}
                className="w-full"
                value={form.of}
                onChange={(of) => set({ of })}
                options={[
                  { value: "", label: "Select an agent" },
                  ...(agents.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
                ]}
              />
            )}
          </Field>
        )}
        {form.scope === "project" && (
          <Field label="Project folder" className="sm:col-span-2">
            {text("of", "/home/me/project")}
          </Field>
        )}
        {form.scope === "session" && (
          <Field label="Session id" className="sm:col-span-2">
            {text("of", "sesn_…")}
          </Field>
        )}
        <Field label="Tool" hint="One tool (Bash, Edit, mcp__SERVER__TOOL), a group (read, edit, web), or *">
          {text("tool", "Bash")}
        </Field>
        <Field label="Calls" hint="A command, path or domain with * and **. Empty means all.">
          {text("pattern", "git push *")}
        </Field>
        <Field label="Reason" className="sm:col-span-2">
          {text("reason", "Shown to people who read the rule")}
        </Field>
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
