import type { Skill } from "@tandem/protocol";
import { useRef, useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { useChange } from "../../api/use-change.ts";
import { TextField } from "../../ui/field.tsx";

/** Uploads a folder or a zip archive as a new skill, or as a new version of `skill`. */
export function UploadSkill({ skill, onClose }: { skill?: Skill; onClose: () => void }) {
  const folder = useRef<HTMLInputElement>(null);
  const archive = useRef<HTMLInputElement>(null);
  const [files, setFiles] = useState<readonly File[]>([]);
  const [name, setName] = useState("");
  const upload = useChange(
    ["/v1/skills"],
    async (): Promise<void> => {
      const display = name.trim();
      if (skill) await api.upload("skills.versions.create", { params: { skill_id: skill.id }, files });
      else await api.upload("skills.create", { files, form: display === "" ? {} : { display_name: display } });
    },
    onClose,
  );
  const choose = (input: HTMLInputElement | null) => {
    setFiles([...(input?.files ?? [])].filter((file) => !isSkipped(file)).map(withPath));
    upload.reset();
  };
  const chosen = files.length === 0 ? "Nothing chosen yet." : describe(files);
  return (
    <FormDialog
      onClose={onClose}
      title={skill ? `New version of ${skill.display_name}` : "Upload skill"}
      size="narrow"
      verb={upload.isPending ? "Uploading …" : "Upload"}
      isReady={files.length > 0}
      action={upload}
    >
      <p className="text-ink-soft">A folder with a SKILL.md at its root, or a zip archive of it. At most 30 MB.</p>
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => folder.current?.click()}>Choose folder</Button>
        <Button onClick={() => archive.current?.click()}>Choose zip archive</Button>
      </div>
      <input
        ref={folder}
        type="file"
        hidden
        multiple
        aria-label="Folder"
        {...{ webkitdirectory: "" }}
        onChange={() => choose(folder.current)}
      />
      <input
        ref={archive}
        type="file"
        hidden
        accept=".zip,application/zip"
        aria-label="Zip archive"
        onChange={() => choose(archive.current)}
      />
      <output className="block text-sm break-words text-ink-soft">{chosen}</output>
      {!skill && (
        <TextField
          label="Display name"
          hint="Optional. Otherwise the name in SKILL.md."
          maxLength={255}
          value={name}
          onChange={setName}
        />
      )}
    </FormDialog>
  );
}

/** A file of a chosen folder has its path; the API takes it as the file's name. */
const withPath = (file: File): File =>
  file.webkitRelativePath === "" ? file : new File([file], file.webkitRelativePath, { type: file.type });

/** Git's own files are no part of a skill. */
const isSkipped = (file: File): boolean => file.webkitRelativePath.split("/").includes(".git");

function describe(files: readonly File[]): string {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const [first] = files;
  const what = first!.name.split("/")[0]!;
  return `${what}: ${files.length} ${files.length === 1 ? "file" : "files"}, ${Math.ceil(bytes / 1_000)} kB`;
}
