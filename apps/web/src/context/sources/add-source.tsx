import { useMutation, useQueryClient } from "@tanstack/react-query";
import { CircleCheck, DatabaseZap, FileInput, PlugZap } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Problem } from "../../ui/problem.tsx";
import { ContextLink, linkClass } from "../context-link.tsx";
import { StartJobDialog, type WantedJob } from "../jobs/start-job-dialog.tsx";
import {
  connectionBody,
  EMPTY_FORM,
  isComplete,
  isDatabase,
  isServer,
  KIND_EXAMPLES,
  KIND_LABELS,
  nameProblem,
  passwordProblem,
  placeProblem,
  SOURCE_KINDS,
  sourceBody,
  type SourceForm,
  suggestName,
} from "./source-form.ts";
import { ConnectionResult, SourceResult } from "./test-result.tsx";
import { TextField } from "../../ui/field.tsx";
import { fieldsOf } from "../../ui/use-form.ts";
import { SelectField } from "../../ui/select.tsx";

/** Adds a database or a folder. It must pass a test before it can be saved. */
export function AddSource() {
  const queries = useQueryClient();
  const [form, setForm] = useState(EMPTY_FORM);
  const [job, setJob] = useState<WantedJob>();
  const isFolder = !isDatabase(form.kind);
  const name = form.name.trim() === "" ? suggestName(form) : form.name.trim();
  const testing = useMutation({
    mutationFn: async (tested: SourceForm) =>
      isDatabase(tested.kind)
        ? { connection: await api.call("context.connections.test", { body: connectionBody(tested) }) }
        : { source: await api.call("context.sources.test", { body: sourceBody(tested) }) },
  });
  const saving = useMutation({
    mutationFn: async () =>
      isFolder
        ? api.call("context.sources.create", { body: { name, ...sourceBody(form) } })
        : api.call("context.connections.create", { body: { name, ...connectionBody(form) } }),
    onSuccess: () =>
      queries.invalidateQueries({ predicate: ({ queryKey: [path] }) => String(path).startsWith("/v1/context") }),
  });
  const set = (part: Partial<SourceForm>): void => {
    setForm({ ...form, ...part });
    saving.reset();
    // A result counts only for the address that was tested.
    if (Object.keys(part).some((key) => key !== "name")) testing.reset();
  };
  const field = fieldsOf(form, set);
  const isReady = isComplete(form);
  if (saving.data) {
    return (
      <Saved
        name={saving.data.name}
        file={saving.data.file}
        isFolder={isFolder}
        onScan={() =>
          setJob(
            isFolder
              ? { kind: "ingest", params: { sources: [name] }, subject: name }
              : { kind: "scan", params: { connection: name }, subject: name },
          )
        }
        onAnother={() => {
          setForm({ ...EMPTY_FORM, kind: form.kind });
          saving.reset();
          testing.reset();
        }}
      >
        {job && <StartJobDialog job={job} onClose={() => setJob(undefined)} />}
      </Saved>
    );
  }
  return (
    <Frame>
      <form
        className="mt-4 space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (testing.data) saving.mutate();
          else if (isReady) testing.mutate(form);
        }}
      >
        <SelectField
          label="Kind"
          value={form.kind}
          onChange={(kind) => set({ kind, place: "", passwordPlace: "none" })}
          options={SOURCE_KINDS.map((kind) => ({ value: kind, label: KIND_LABELS[kind] }))}
        />
        <TextField
          label={isServer(form.kind) ? "Address" : isFolder ? "Folder" : "File"}
          problem={placeProblem(form)}
          hint={
            isServer(form.kind)
              ? "Without a password. env:NAME or file:path reads the whole address from there."
              : "A path on the server's machine: absolute, or relative to tandem.yaml."
          }
          inputClassName="font-mono"
          placeholder={KIND_EXAMPLES[form.kind]}
          {...field("place")}
        />
        {isServer(form.kind) && <Password form={form} set={set} />}
        {isServer(form.kind) && (
          <TextField
            label="Schemas"
            hint="Optional, separated by commas. Empty reads all visible schemas."
            {...field("schemas")}
          />
        )}
        <TextField
          label="Name"
          problem={nameProblem(form.name.trim())}
          hint="Agents and commands use this name. Lower-case letters, digits, - and _."
          inputClassName="font-mono"
          placeholder={suggestName(form) || "shop"}
          {...field("name")}
        />
        <Problem error={testing.error ?? saving.error} />
        {testing.data?.connection && <ConnectionResult test={testing.data.connection} />}
        {testing.data?.source && <SourceResult test={testing.data.source} />}
        <div className="flex flex-wrap items-center gap-2">
          <Button
            look={testing.data ? "plain" : "primary"}
            disabled={!isReady || testing.isPending}
            onClick={() => testing.mutate(form)}
          >
            <PlugZap aria-hidden className="size-4" /> {testing.isPending ? "Testing …" : "Test"}
          </Button>
          <Button
            type="submit"
            look={testing.data ? "primary" : "plain"}
            disabled={!testing.data || saving.isPending || nameProblem(name) !== undefined || name === ""}
          >
            {saving.isPending ? "Saving …" : "Save"}
          </Button>
          {!testing.data && <span className="text-sm text-ink-faint">Save is available after a successful test.</span>}
        </div>
      </form>
    </Frame>
  );
}

function Password({ form, set }: { form: SourceForm; set: (part: Partial<SourceForm>) => void }) {
  const field = fieldsOf(form, set);
  const isFile = form.passwordPlace === "file";
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <SelectField
        label="Password"
        value={form.passwordPlace}
        onChange={(passwordPlace) => set({ passwordPlace, passwordName: "" })}
        options={[
          { value: "none", label: "Not needed" },
          { value: "env", label: "From an environment variable" },
          { value: "file", label: "From a file" },
        ]}
      />
      {form.passwordPlace !== "none" && (
        <TextField
          label={isFile ? "File with the password" : "Variable"}
          problem={passwordProblem(form)}
          hint={isFile ? "On the server's machine." : "In the environment of the server."}
          inputClassName="font-mono"
          placeholder={isFile ? "/run/secrets/shop" : "SHOP_PASSWORD"}
          {...field("passwordName")}
        />
      )}
    </div>
  );
}

function Saved({
  name,
  file,
  isFolder,
  onScan,
  onAnother,
  children,
}: {
  name: string;
  file: string;
  isFolder: boolean;
  onScan: () => void;
  onAnother: () => void;
  children: ReactNode;
}) {
  return (
    <Frame>
      <output className="mt-4 flex items-start gap-2 rounded-md bg-good-soft px-3 py-2 text-good">
        <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0" />
        <span className="wrap-anywhere">
          Added {name} to <span className="font-mono text-xs">{file}</span>
        </span>
      </output>
      <p className="mt-3 text-ink-soft">
        {isFolder
          ? "An ingest reads its documents and proposes wiki pages. You see the estimated cost before it starts."
          : "A scan reads its tables, finds joins and proposes descriptions. You see the estimated cost before it starts."}
      </p>
      <div className="mt-3 flex flex-wrap gap-2">
        <Button look="primary" onClick={onScan}>
          {isFolder ? <FileInput aria-hidden className="size-4" /> : <DatabaseZap aria-hidden className="size-4" />}
          {isFolder ? `Ingest ${name} …` : `Scan ${name} …`}
        </Button>
        <Button onClick={onAnother}>Add another</Button>
      </div>
      {children}
    </Frame>
  );
}

function Frame({ children }: { children: ReactNode }) {
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-xl px-4 py-5 sm:py-7">
        <ContextLink path="sources" className={`text-sm ${linkClass}`}>
          Sources
        </ContextLink>
        <h2 className="mt-1 text-base font-semibold">Add a database or folder</h2>
        <p className="mt-0.5 text-sm text-ink-soft">
          Tandem only reads from it. Passwords stay where they are: tandem.yaml keeps the name of their place.
        </p>
        {children}
      </div>
    </div>
  );
}
