import { PERMISSION_MODES, type RuleAction, type PermissionMode, type TestedCall } from "@tandem/protocol";
import { useMutation } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { MODE_LABELS } from "../../text/mode-labels.ts";
import { InlineCode } from "../../text/inline-code.tsx";
import { ruleText } from "../../text/rule-text.ts";
import { Button } from "../../ui/button.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Badge, Panel, type Tone } from "../panel.tsx";
import { AgentField } from "../agent-field.tsx";
import { TextField } from "../../ui/field.tsx";
import { useForm } from "../../ui/use-form.ts";
import { SelectField } from "../../ui/select.tsx";

export const ACTION_TONES: Readonly<Record<RuleAction, Tone>> = { allow: "good", ask: "wait", deny: "bad" };

/** Evaluates a call against the rules without running it. */
export function TestRule() {
  const { form, field } = useForm({ call: "", agent: "", mode: "" as PermissionMode | "" });
  const test = useMutation({
    mutationFn: () =>
      api.call("rules.test", {
        body: {
          call: form.call.trim(),
          ...(form.agent !== "" && { agent_id: form.agent }),
          ...(form.mode !== "" && { mode: form.mode }),
        },
      }),
  });
  return (
    <Panel title="Test a call">
      <form
        className="grid items-end gap-3 p-3 sm:grid-cols-[minmax(0,1fr)_9rem_9rem_auto]"
        onSubmit={(event) => {
          event.preventDefault();
          if (form.call.trim() !== "") test.mutate();
        }}
      >
        <TextField
          label="Call"
          inputClassName="font-mono"
          placeholder="Bash(git push origin main)"
          {...field("call")}
        />
        <AgentField none="Any agent" {...field("agent")} />
        <SelectField
          label="Mode"
          {...field("mode")}
          options={[
            { value: "", label: MODE_LABELS.default },
            ...PERMISSION_MODES.slice(1).map((mode) => ({ value: mode, label: MODE_LABELS[mode] })),
          ]}
        />
        <Button type="submit" disabled={form.call.trim() === "" || test.isPending}>
          Test
        </Button>
      </form>
      <Problem error={test.error} className="mx-3 mb-3" />
      {test.data && <Answer tested={test.data} />}
    </Panel>
  );
}

function Answer({ tested: { verdict, parts, suggestion } }: { tested: TestedCall }) {
  return (
    <output className="block space-y-2 border-t border-line p-3">
      <p>
        <Badge tone={ACTION_TONES[verdict.action]}>{verdict.action}</Badge> <InlineCode text={verdict.why} />
      </p>
      {parts
        .filter(({ considered, what }) => considered.length > 0 || (parts.length > 1 && what !== ""))
        .map((part, index) => (
          <div key={index} className="rounded-md bg-raised px-2.5 py-1.5 text-sm">
            {/* A call with a single part shows its verdict above. */}
            {parts.length > 1 && (
              <p className="mb-1">
                {/* The reason already names the part. */}
                {part.verdict?.why.includes(part.what) !== true && <InlineCode text={part.what} />}{" "}
                <span className="text-ink-soft">
                  <InlineCode text={part.verdict?.why ?? (part.neutral ? "has no effect" : "")} />
                </span>
              </p>
            )}
            <ul className="space-y-0.5 text-ink-soft">
              {part.considered.map(({ rule, fit, why }, at) => (
                <li key={at}>
                  {{ yes: "matches", maybe: "may match", no: "does not match" }[fit]}:{" "}
                  <code className="font-mono">
                    {rule.action} {ruleText(rule)}
                  </code>{" "}
                  <span className="text-ink-faint">{why}</span>
                </li>
              ))}
            </ul>
          </div>
        ))}
      {suggestion && (
        <p className="text-sm text-ink-faint">
          “Always allow” would save <code className="font-mono">{`${suggestion.action} ${ruleText(suggestion)}`}</code>
        </p>
      )}
    </output>
  );
}
