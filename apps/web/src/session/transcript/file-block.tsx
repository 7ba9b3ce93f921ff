import type { PartOf } from "@tandem/protocol";
import { useMutation } from "@tanstack/react-query";
import { FileText } from "lucide-react";
import { api } from "../../api/client.ts";
import { saveDownload } from "../../api/save-download.ts";
import { Problem } from "../../ui/problem.tsx";
import { useFileImage } from "./use-file-image.ts";

/** An image or a document. External files are named but never fetched, because a request would reveal the reader. */
export function FileBlock({ file }: { file: PartOf<"file">["file"] }) {
  const { source } = file;
  const fileId = source.type === "file" ? source.file_id : undefined;
  const uploaded = useFileImage(file.type === "image" ? fileId : undefined);
  const save = useMutation({
    mutationFn: async (id: string) => saveDownload(await api.download("files.download", { params: { file_id: id } })),
  });
  const image = source.type === "base64" ? `data:${source.media_type};base64,${source.data}` : uploaded;
  if (file.type === "image" && image !== undefined)
    return (
      <img src={image} alt="Attachment" className="max-h-64 max-w-full rounded-lg border border-line object-contain" />
    );
  const title = ("title" in file ? file.title : undefined) ?? (source.type === "url" ? source.url : file.type);
  const chip =
    "flex w-fit max-w-full items-center gap-2 rounded-lg border border-line bg-surface px-2.5 py-1.5 text-sm";
  const words = (
    <>
      <FileText aria-hidden className="size-4 shrink-0 text-ink-faint" />
      <span className="truncate">{title}</span>
    </>
  );
  if (fileId === undefined) return <span className={chip}>{words}</span>;
  return (
    <>
      <button type="button" className={`${chip} hover:bg-raised`} onClick={() => save.mutate(fileId)}>
        {words}
      </button>
      <Problem error={save.error} className="mt-1" />
    </>
  );
}
