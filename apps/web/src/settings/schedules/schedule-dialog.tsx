import type { Deployment } from "@tandem/protocol";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useAgents, useEnvironments } from "../../api/lists.ts";
import { ownZone, previewSchedule } from "./schedule-text.ts";
import { useDeploymentChange } from "./use-deployments.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { TextAreaField, TextField } from "../../ui/field.tsx";
import { useForm } from "../../ui/use-form.ts";
import { SelectField } from "../../ui/select.tsx";

function formOf(deployment: Deployment | undefined) {
  const [first] = deployment?.initial_events ?? [];
  const content = (first?.["content"] ?? []) as readonly { text?: string }[];
  const cents = deployment?.budget?.max_list_cost.amount;
  return {
    name: deployment?.name ?? "",
    agent: deployment?.agent.id ?? "",
    environment: deployment?.environment_id ?? "env_local",
    message: content.map(({ text }) => text ?? "").join("\n"),
    expression: deployment ? (deployment.schedule?.expression ?? "") : "0 9 * * 1-5",
    timezone: deployment?.schedule?.timezone ?? ownZone(),
    dollars: cents === undefined ? "" : String(Number(cents) / 100),
  };
}

/** Creates a schedule, or changes one. */
export function ScheduleDialog({ deployment, onClose }: { deployment?: Deployment; onClose: () => void }) {
  const agents = useAgents();
  const environments = useEnvironments();
  const [before] = useState(() => formOf(deployment));
  const { form, set, field } = useForm(before);
  const agent = form.agent || agents.data?.[0]?.id || "";
  const expression = form.expression.trim();
  const preview = expression === "" ? undefined : previewSchedule(expression, form.timezone.trim());
  const save = useDeploymentChange(async () => {
    const schedule = expression === "" ? null : { type: "cron" as const, expression, timezone: form.timezone.trim() };
    const message = [
      { type: "user.message" as const, content: [{ type: "text" as const, text: form.message.trim() }] },
    ];
    const cents = Math.round(Number(form.dollars) * 100);
    const budget =
      cents > 0 ? { type: "limit" as const, max_list_cost: { amount: String(cents), currency: "USD" as const } } : null;
    const body = { name: form.name.trim(), environment_id: form.environment, schedule, budget };
    if (!deployment) return api.call("deployments.create", { body: { ...body, agent, initial_events: message } });
    return api.call("deployments.update", {
      params: { deployment_id: deployment.id },
      body: {
        ...body,
        // An unchanged agent stays at its version, and unchanged events may have parts that this form does not show.
        ...(agent !== before.agent && { agent }),
        ...(form.message !== before.message && { initial_events: message }),
      },
    });
  }, onClose);
  const isReady =
    form.name.trim() !== "" && agent !== "" && form.message.trim() !== "" && (preview === undefined || preview.isValid);
  return (
    <FormDialog
      onClose={onClose}
      title={deployment ? `Edit ${deployment.name}` : "New schedule"}
      verb={deployment ? "Save" : "Create"}
      isReady={isReady}
      action={save}
    >
      <TextField label="Name" {...field("name")} />
      <SelectField
        label="Agent"
        hint="The current version is used until you choose the agent again."
        value={agent}
        onChange={(value) => set({ agent: value })}
        options={(agents.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      />
      <SelectField
        label="Environment"
        {...field("environment")}
        options={(environments.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      />
      <TextAreaField label="What should the agent do?" rows={3} {...field("message")} />
      <TextField
        label="Cron"
        hint="Minute, hour, day of month, month, day of week. Empty: on request only."
        inputClassName="font-mono"
        {...field("expression")}
      />
      <TextField label="Time zone" {...field("timezone")} />
      <output className="block text-sm text-ink-soft" aria-label="Preview">
        {preview === undefined && "Runs only when you start it."}
        {preview?.isValid === false && <span className="text-bad">{preview.reason}</span>}
        {preview?.isValid && (
          <>
            <p>{preview.words}</p>
            <ol className="mt-1 list-inside list-decimal">
              {preview.times.map((time) => (
                <li key={time}>{time}</li>
              ))}
            </ol>
          </>
        )}
      </output>
      <TextField
        label="Budget per session"
        hint="In dollars. Empty: no limit."
        inputMode="decimal"
        {...field("dollars")}
      />
    </FormDialog>
  );
}
