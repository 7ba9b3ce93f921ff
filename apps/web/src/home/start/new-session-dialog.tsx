import { EFFORTS, PERMISSION_MODES, type Vault } from "@tandem/protocol";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useRef, useState } from "react";
import { useAgents, useEnvironments, useModels, useVaults } from "../../api/lists.ts";
import { useAttachments } from "../../prompt/use-attachments.ts";
import { useCompletion } from "../../prompt/use-completion.ts";
import { isNewSessionOpen, startDraft, takeTyped } from "../../state/new-session.ts";
import { effortLabel, modeOptions } from "../../text/mode-labels.ts";
import { Button } from "../../ui/button.tsx";
import { useBypassConfirm } from "../../ui/bypass-confirm.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Problem } from "../../ui/problem.tsx";
import { folderOf, environmentOptions } from "./environment-options.ts";
import { PromptField } from "./prompt-field.tsx";
import { type SessionOptions, lastOptions, readBudget, startSession } from "./start-session.ts";
import { fieldsOf } from "../../ui/use-form.ts";
import { TextField } from "../../ui/field.tsx";
import { type Option, SelectField } from "../../ui/select.tsx";

const OWN: Option = { value: "", label: "Agent default" };

/** Starts a session. All options default to those of the last session. */
export default function NewSessionDialog() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  // Local state keeps typing fast; the stored draft follows.
  const [prompt, setPrompt] = useState(startDraft.current);
  const [saved, setSaved] = useState(lastOptions.current);
  const [agents, environments, models] = [useAgents(), useEnvironments(), useModels()];
  const vaults = useVaults();
  const files = useAttachments();
  const input = useRef<HTMLTextAreaElement>(null);
  const places = environmentOptions(environments.data ?? []);
  const choices: SessionOptions = {
    ...saved,
    // The last choice may no longer exist. That is known only once the list has loaded.
    agent: agents.isPending ? saved.agent : lastOrFirst(agents.data ?? [], saved.agent, ({ id }) => id),
    place: environments.isPending ? saved.place : lastOrFirst(places, saved.place, ({ value }) => value),
    // A vault may have been archived since.
    vaults: (saved.vaults ?? []).filter((id) => vaults.data?.some((vault) => vault.id === id) ?? true),
  };
  const set = (part: Partial<SessionOptions>): void => {
    setSaved({ ...choices, ...part });
    lastOptions.set({ ...choices, ...part });
  };
  const field = fieldsOf(choices, set);
  const hasBadBudget = Number.isNaN(readBudget(choices.budget));
  const isReady = agents.isSuccess && environments.isSuccess && !hasBadBudget && !files.isUploading;
  const start = useMutation({
    mutationFn: () => startSession({ prompt, files: files.attachments }, choices, environments.data ?? []),
    onSuccess: async (session) => {
      startDraft.set("");
      files.clear();
      lastOptions.set({ ...choices, agent: session.agent.id });
      isNewSessionOpen.set(false);
      await queries.invalidateQueries({ queryKey: ["/v1/agents"] });
      await queries.invalidateQueries({ queryKey: ["/v1/environments"] });
      await navigate({ to: "/sessions/$session", params: { session: session.id } });
    },
    // The chosen agent or environment may have been archived since the lists were loaded.
    onError: async () => {
      await queries.invalidateQueries({ queryKey: ["/v1/agents"] });
      await queries.invalidateQueries({ queryKey: ["/v1/environments"] });
    },
  });
  const write = (value: string): void => {
    setPrompt(value);
    startDraft.set(value);
  };
  const completion = useCompletion({
    text: prompt,
    place: { folder: folderOf(choices, environments.data ?? []) },
    write: (value, caret) => {
      write(value);
      requestAnimationFrame(() => input.current?.setSelectionRange(caret, caret));
    },
  });
  const [confirmBypass, bypassDialog] = useBypassConfirm();
  const go = (): void => {
    if (isReady && !start.isPending) start.mutate();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    go();
  };
  const labelled = <T extends string>(values: readonly T[], words: (value: T) => string): Option[] =>
    values.map((value) => ({ value, label: words(value) }));
  return (
    <Dialog
      onClose={() => isNewSessionOpen.set(false)}
      title="New session"
      onOpenAutoFocus={(event) => {
        event.preventDefault();
        input.current?.focus();
        const typed = takeTyped();
        if (typed !== "") write(prompt + typed);
      }}
      onEscapeKeyDown={(event) => {
        if (completion.isOpen) event.preventDefault();
      }}
      footer={
        <>
          <p className="mr-auto text-xs text-ink-faint">Your choices are kept for the next session.</p>
          <Button look="primary" keys="mod+enter" disabled={!isReady || start.isPending} onClick={go}>
            {start.isPending ? "Starting …" : "Start"}
          </Button>
        </>
      }
    >
      <div onKeyDown={onKeyDown} className="space-y-3" role="presentation">
        {bypassDialog}
        <PromptField input={input} value={prompt} onChange={write} completion={completion} files={files} />
        <Problem error={start.error ?? agents.error ?? environments.error} />
        <div className="grid gap-3 sm:grid-cols-2">
          <SelectField
            label="Agent"
            {...field("agent")}
            options={
              agents.data?.length === 0
                ? [{ value: "", label: "Claude Code (new)" }]
                : (agents.data?.map(({ id, name }) => ({ value: id, label: name })) ?? loadingOption(choices.agent))
            }
          />
          <SelectField
            label="Work in"
            {...field("place")}
            options={environments.isPending && choices.place !== "folder" ? loadingOption(choices.place) : places}
          />
          {choices.place === "folder" && <OtherFolder field={field} />}
          <SelectField
            label="Model"
            {...field("model")}
            options={[OWN, ...(models.data ?? []).map(({ id, display_name }) => ({ value: id, label: display_name }))]}
          />
          <SelectField label="Effort" {...field("effort")} options={[OWN, ...labelled(EFFORTS, effortLabel)]} />
          <SelectField
            label="Permission mode"
            value={choices.mode === "" ? "default" : choices.mode}
            onChange={(mode) => {
              const choose = (): void => set({ mode: mode === "default" ? "" : mode });
              if (mode === "bypassPermissions") confirmBypass(choose);
              else choose();
            }}
            options={modeOptions(PERMISSION_MODES)}
          />
          <TextField
            label="Budget, in dollars"
            problem={hasBadBudget ? "Enter an amount such as 2.50, or leave it empty." : undefined}
            inputMode="decimal"
            placeholder="No limit"
            {...field("budget")}
          />
          {vaults.data !== undefined && vaults.data.length > 0 && (
            <VaultChoice vaults={vaults.data} chosen={choices.vaults ?? []} onChange={(ids) => set({ vaults: ids })} />
          )}
        </div>
      </div>
    </Dialog>
  );
}

/** If two vaults have a credential for the same server, the first chosen one counts. */
function VaultChoice({
  vaults,
  chosen,
  onChange,
}: {
  vaults: readonly Vault[];
  chosen: readonly string[];
  onChange: (ids: string[]) => void;
}) {
  return (
    <fieldset className="sm:col-span-2">
      <legend className="mb-1 text-sm font-medium text-ink-soft">Vaults</legend>
      <div className="flex flex-wrap gap-x-4">
        {vaults.map(({ id, display_name: name }) => (
          <label key={id} className="flex min-h-7 items-center gap-2 text-sm pointer-coarse:min-h-10">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={chosen.includes(id)}
              onChange={(event) =>
                onChange(event.target.checked ? [...chosen, id] : chosen.filter((other) => other !== id))
              }
            />
            {name}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** Keeps the selected value visible while its list loads. */
const loadingOption = (value: string): Option[] => [{ value, label: "Loading …" }];

function lastOrFirst<T>(list: readonly T[], last: string, key: (one: T) => string): string {
  const first = list[0];
  return list.some((one) => key(one) === last) ? last : first === undefined ? "" : key(first);
}

function OtherFolder({ field }: { field: ReturnType<typeof fieldsOf<SessionOptions>> }) {
  const own = field("ownWorktree");
  return (
    <div className="sm:col-span-2">
      <TextField
        label="Folder"
        hint="Absolute path inside a folder that the server may use."
        inputClassName="font-mono"
        placeholder="/home/me/project"
        {...field("folder")}
      />
      <label className="mt-2 flex items-center gap-2 text-sm text-ink-soft">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={own.value}
          onChange={(event) => own.onChange(event.target.checked)}
        />
        In a new worktree
      </label>
    </div>
  );
}
