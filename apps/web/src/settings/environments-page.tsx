import { type Environment, ENVIRONMENT_METADATA, LOCAL_ENVIRONMENT } from "@tandem/protocol";
import { useState } from "react";
import { api } from "../api/client.ts";
import { useEnvironments } from "../api/lists.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Problem } from "../ui/problem.tsx";
import { AddButton } from "./add-button.tsx";
import { Badge, ListPanel, Mono, PageHead, Row } from "./panel.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useChange } from "../api/use-change.ts";
import { TextField } from "../ui/field.tsx";
import { useForm } from "../ui/use-form.ts";
import { SelectField } from "../ui/select.tsx";

const { path, isolation, branch } = ENVIRONMENT_METADATA;
/** Shortens a commit hash. */
const shortCommit = (name = ""): string => (/^[0-9a-f]{40,}$/.test(name) ? name.slice(0, 10) : name);

export default function EnvironmentsPage() {
  const list = useEnvironments();
  const [isNew, setNew] = useState(false);
  const [ended, setEnded] = useState<Environment>();
  return (
    <>
      <PageHead title="Environments" action={<AddButton onClick={() => setNew(true)}>New environment</AddButton>}>
        The folder a session works in: a shared folder, a git worktree for each session, or a private scratch folder.
      </PageHead>
      <Problem error={list.error} onRetry={() => void list.refetch()} className="mb-4" />
      <ListPanel items={list.data}>
        {(environment) => (
          <Row key={environment.id}>
            <div className="min-w-40 flex-1">
              <p className="font-medium break-words">{environment.name}</p>
              <p className="text-sm text-ink-faint">
                {environment.metadata[path] === undefined ? (
                  "A scratch folder for each session"
                ) : (
                  <Mono>{environment.metadata[path]}</Mono>
                )}
              </p>
            </div>
            {environment.metadata[isolation] === "worktree" && (
              <Badge>
                worktree per session
                {environment.metadata[branch] !== undefined && `, from ${shortCommit(environment.metadata[branch])}`}
              </Badge>
            )}
            {environment.id === LOCAL_ENVIRONMENT ? (
              <Badge>built in</Badge>
            ) : (
              <Button look="quiet" size="small" onClick={() => setEnded(environment)}>
                Archive …
              </Button>
            )}
          </Row>
        )}
      </ListPanel>
      {isNew && <NewEnvironment onClose={() => setNew(false)} />}
      {ended && (
        <Confirm
          onClose={() => setEnded(undefined)}
          title={`Archive ${ended.name}?`}
          verb="Archive"
          act={() => api.call("environments.archive", { params: { environment_id: ended.id } })}
          reloads={["/v1/environments"]}
        >
          New sessions cannot use it. Existing sessions continue, and its folder is kept.
        </Confirm>
      )}
    </>
  );
}

const KINDS = [
  { value: "folder", label: "Shared folder" },
  { value: "worktree", label: "Git worktree for each session" },
  { value: "scratch", label: "Private scratch folder for each session" },
];

function NewEnvironment({ onClose }: { onClose: () => void }) {
  const { form, field } = useForm({ name: "", kind: "folder", folder: "", branch: "" });
  const create = useChange(
    ["/v1/environments"],
    () =>
      api.call("environments.create", {
        body: {
          name: form.name.trim(),
          metadata: {
            ...(form.kind !== "scratch" && { [path]: form.folder.trim() }),
            ...(form.kind === "worktree" && { [isolation]: "worktree" }),
            ...(form.kind === "worktree" && form.branch.trim() !== "" && { [branch]: form.branch.trim() }),
          },
        },
      }),
    onClose,
  );
  const isReady = form.name.trim() !== "" && (form.kind === "scratch" || form.folder.trim() !== "");
  return (
    <FormDialog onClose={onClose} title="New environment" verb="Create" isReady={isReady} action={create}>
      <TextField label="Name" {...field("name")} />
      <SelectField label="Type" {...field("kind")} options={KINDS} />
      {form.kind !== "scratch" && (
        <TextField
          label="Folder"
          hint="Absolute path inside a folder that the server may use."
          inputClassName="font-mono"
          {...field("folder")}
        />
      )}
      {form.kind === "worktree" && (
        <TextField
          label="Start from"
          hint="A branch or commit. Default: the folder’s current checkout."
          inputClassName="font-mono"
          {...field("branch")}
        />
      )}
    </FormDialog>
  );
}
