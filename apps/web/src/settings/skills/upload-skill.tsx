import type { Skill } from "@tandem/protocol";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useRef, useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";

/** Uploads a folder or a zip archive as a new skill, or as a new version of `skill`. */
export function UploadSkill({ skill, onClose }: { skill?: Skill; onClose: () => void }) {
  const queries = useQueryClient();
  const folder = useRef<HTMLInputElement>(null);
  const archive = useRef<HTMLInputElement>(null);
  const statusId = useId();
  const [files, setFiles] = useState<readonly File[]>([]);
  const [name, setName] = useState("");
  const upload = useMutation({
    mutationFn: async (): Promise<void> => {
      const display = name.trim();
      if (skill) await api.upload("skills.versions.create", { params: { skill_id: skill.id }, files });
      else await api.upload("skills.create", { files, form: display === "" ? {} : { display_name: display } });
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["/v1/skills"] });
      onClose();
    },
  });
  const choose = (input: HTMLInputElement | null) => {
    setFiles([...(input?.files ?? [])].filter((file) => !isSkipped(file)).map(withPath));
    upload.reset();
  };
  const chosen = files.length === 0 ? "Nothing chosen yet." : describe(files);
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={skill ? `New version of ${skill.display_name}` : "Upload skill"}
      size="narrow"
      footer={
        <Button
          look="primary"
          disabled={files.length === 0 || upload.isPending}
          aria-describedby={statusId}
          onClick={() => upload.mutate()}
        >
          {upload.isPending ? "Uploading …" : "Upload"}
        </Button>
      }
    >
      <div className="space-y-3">
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
        <output id={statusId} className="block text-sm break-words text-ink-soft">
          {chosen}
        </output>
        {!skill && (
          <Field label="Display name" hint="Optional. Otherwise the name in SKILL.md.">
            {(ids) => (
              <TextInput {...ids} maxLength={255} value={name} onChange={(event) => setName(event.target.value)} />
            )}
          </Field>
        )}
        <Problem error={upload.error} />
      </div>
    </Dialog>
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
