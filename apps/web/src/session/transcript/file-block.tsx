import type { PartOf } from "@tandem/protocol";
import { FileText } from "lucide-react";

/** An image or a document. External files are named but never fetched, because a request would reveal the reader. */
export function FileBlock({ file }: { file: PartOf<"file">["file"] }) {
  const { source } = file;
  const address =
    source.type === "file"
      ? `/v1/files/${source.file_id}/content`
      : source.type === "base64"
        ? `data:${source.media_type};base64,${source.data}`
        : undefined;
  if (file.type === "image" && address !== undefined)
    return (
      <img src={address} alt="Sent" className="max-h-64 max-w-full rounded-lg border border-line object-contain" />
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
  return source.type === "file" ? (
    <a className={`${chip} hover:bg-raised`} href={address} download>
      {words}
    </a>
  ) : (
    <span className={chip}>{words}</span>
  );
}
