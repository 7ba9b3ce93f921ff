import { type Agent, EFFORTS } from "@tandem/protocol";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useModels } from "../../api/lists.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextArea, TextInput } from "../../ui/field.tsx";
import { effortLabel } from "../../text/mode-labels.ts";
import { Problem } from "../../ui/problem.tsx";
import { Select } from "../../ui/select.tsx";
import { SkillChoices } from "./skill-choices.tsx";
import { type AgentDraft, draftOf, paramsOf, POLICIES, SUBAGENTS } from "./agent-draft.ts";

/** Creates an agent or a new version. Fields that the form does not show stay unchanged. */
export function AgentForm({ agent, onClose }: { agent: Agent | undefined; onClose: () => void }) {
  const queries = useQueryClient();
  const models = useModels();
  const [draft, setDraft] = useState<AgentDraft>(() => draftOf(agent));
  const set = (part: Partial<AgentDraft>): void => setDraft({ ...draft, ...part });
  const save = useMutation({
    mutationFn: () => {
      const body = paramsOf(draft, agent);
      return agent
        ? api.call("agents.update", { params: { agent_id: agent.id }, body: { ...body, version: agent.version } })
        : api.call("agents.create", { body });
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["/v1/agents"] });
      onClose();
    },
  });
  const modelOptions = (models.data ?? []).map(({ id, display_name }) => ({
    value: id,
    label: `${display_name} (${id})`,
  }));
  const isKnown = modelOptions.some(({ value }) => value === draft.model);
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={agent ? `Edit ${agent.name}` : "New agent"}
      description={agent && `Saving creates version ${agent.version + 1}. Running sessions keep their version.`}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            disabled={draft.name.trim() === "" || draft.model === "" || save.isPending}
            onClick={() => save.mutate()}
          >
            {agent ? "Save" : "Create"}
          </Button>
        </>
      }
    >
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Name" className="sm:col-span-2">
          {(ids) => (
            <TextInput
              {...ids}
              maxLength={256}
              value={draft.name}
              onChange={(event) => set({ name: event.target.value })}
            />
          )}
        </Field>
        <Field label="Model">
          {(ids) => (
            <Select
              {...ids}
              className="w-full"
              value={draft.model}
              onChange={(model) => set({ model })}
              options={[
                ...(draft.model === "" ? [{ value: "", label: "Select a model" }] : []),
                ...(draft.model !== "" && !isKnown ? [{ value: draft.model, label: draft.model }] : []),
                ...modelOptions,
              ]}
            />
          )}
        </Field>
        <Field label="Effort">
          {(ids) => (
            <Select
              {...ids}
              className="w-full"
              value={draft.effort}
              onChange={(effort) => set({ effort })}
              options={[
                { value: "", label: "Model default" },
                ...EFFORTS.map((effort) => ({ value: effort, label: effortLabel(effort) })),
              ]}
            />
          )}
        </Field>
        <Field label="Tool policy" hint="Rules and the session's mode take precedence." className="sm:col-span-2">
          {(ids) => (
            <Select
              {...ids}
              className="w-full"
              value={draft.policy}
              onChange={(policy) => set({ policy })}
              options={POLICIES}
            />
          )}
        </Field>
        <Field
          label="Subagents"
          hint="Built-in subagents and those in .claude/agents of a trusted folder."
          className="sm:col-span-2"
        >
          {(ids) => (
            <Select
              {...ids}
              className="w-full"
              value={draft.subagents}
              onChange={(subagents) => set({ subagents })}
              options={SUBAGENTS}
            />
          )}
        </Field>
        <SkillChoices chosen={draft.skills} onChange={(skills) => set({ skills })} />
        <Field label="Description" className="sm:col-span-2">
          {(ids) => (
            <TextInput
              {...ids}
              maxLength={2_048}
              value={draft.description}
              onChange={(event) => set({ description: event.target.value })}
            />
          )}
        </Field>
        <Field label="Instructions" hint="Added to Claude Code's instructions." className="sm:col-span-2">
          {(ids) => (
            <TextArea
              {...ids}
              rows={7}
              className="font-mono text-sm"
              value={draft.system}
              onChange={(event) => set({ system: event.target.value })}
            />
          )}
        </Field>
      </div>
      <Problem error={save.error} className="mt-3" />
    </Dialog>
  );
}
