import { type Agent, EFFORTS } from "@tandem/protocol";
import { api } from "../../api/client.ts";
import { useModels } from "../../api/lists.ts";
import { effortLabel } from "../../text/mode-labels.ts";
import { SkillChoices } from "./skill-choices.tsx";
import { draftOf, paramsOf, POLICIES, SUBAGENTS } from "./agent-draft.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { useChange } from "../../api/use-change.ts";
import { TextAreaField, TextField } from "../../ui/field.tsx";
import { useForm } from "../../ui/use-form.ts";
import { SelectField } from "../../ui/select.tsx";

/** Creates an agent or a new version. Fields that the form does not show stay unchanged. */
export function AgentForm({ agent, onClose }: { agent: Agent | undefined; onClose: () => void }) {
  const models = useModels();
  const { form: draft, set, field } = useForm(() => draftOf(agent));
  const save = useChange(
    ["/v1/agents"],
    () => {
      const body = paramsOf(draft, agent);
      return agent
        ? api.call("agents.update", { params: { agent_id: agent.id }, body: { ...body, version: agent.version } })
        : api.call("agents.create", { body });
    },
    onClose,
  );
  const modelOptions = (models.data ?? []).map(({ id, display_name }) => ({
    value: id,
    label: `${display_name} (${id})`,
  }));
  const isKnown = modelOptions.some(({ value }) => value === draft.model);
  return (
    <FormDialog
      onClose={onClose}
      title={agent ? `Edit ${agent.name}` : "New agent"}
      description={agent && `Saving creates version ${agent.version + 1}. Running sessions keep their version.`}
      verb={agent ? "Save" : "Create"}
      isReady={draft.name.trim() !== "" && draft.model !== ""}
      action={save}
      className="grid gap-3 sm:grid-cols-2"
    >
      <TextField label="Name" className="sm:col-span-2" maxLength={256} {...field("name")} />
      <SelectField
        label="Model"
        {...field("model")}
        options={[
          ...(draft.model === "" ? [{ value: "", label: "Select a model" }] : []),
          ...(draft.model !== "" && !isKnown ? [{ value: draft.model, label: draft.model }] : []),
          ...modelOptions,
        ]}
      />
      <SelectField
        label="Effort"
        {...field("effort")}
        options={[
          { value: "", label: "Model default" },
          ...EFFORTS.map((effort) => ({ value: effort, label: effortLabel(effort) })),
        ]}
      />
      <SelectField
        label="Tool policy"
        hint="Rules and the session's mode take precedence."
        className="sm:col-span-2"
        {...field("policy")}
        options={POLICIES}
      />
      <SelectField
        label="Subagents"
        hint="Built-in subagents and those in .claude/agents of a trusted folder."
        className="sm:col-span-2"
        {...field("subagents")}
        options={SUBAGENTS}
      />
      <SkillChoices chosen={draft.skills} onChange={(skills) => set({ skills })} />
      <TextField label="Description" className="sm:col-span-2" maxLength={2_048} {...field("description")} />
      <TextAreaField
        label="Instructions"
        hint="Added to Claude Code's instructions."
        className="sm:col-span-2"
        rows={7}
        inputClassName="font-mono text-sm"
        {...field("system")}
      />
    </FormDialog>
  );
}
