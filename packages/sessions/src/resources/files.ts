import { newId, RequestError, type FileId, type FileMetadata, type Clock } from "@tandem/protocol";
import type { FileStore, Page, PageQuery } from "@tandem/storage";

/** Uploaded files. An expired file is treated as missing and is deleted on its next access. */
export class FileCatalogue {
  readonly #store: FileStore;
  readonly #clock: Clock;

  constructor(store: FileStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async upload(upload: {
    id?: FileId;
    filename: string;
    mimeType: string;
    content: Uint8Array;
    expiresInSeconds?: number;
  }): Promise<FileMetadata> {
    const now = this.#clock.now();
    const { expiresInSeconds } = upload;
    const file: FileMetadata = {
      type: "file",
      id: upload.id ?? newId("file"),
      filename: upload.filename,
      mime_type: upload.mimeType,
      size_bytes: upload.content.byteLength,
      created_at: new Date(now).toISOString(),
      expires_at: expiresInSeconds === undefined ? null : new Date(now + expiresInSeconds * 1_000).toISOString(),
      downloadable: true,
      scope: null,
    };
    await this.#store.create(file, upload.content);
    return file;
  }

  async get(id: string): Promise<FileMetadata> {
    const file = await this.#store.get(id);
    if (file && !this.#isExpired(file)) return file;
    if (file) await this.#store.delete(file.id as FileId);
    throw new RequestError("not_found", `There is no file ${id}.`);
  }

  async content(id: string): Promise<{ metadata: FileMetadata; content: Uint8Array }> {
    const metadata = await this.get(id);
    const content = await this.#store.content(metadata.id as FileId);
    if (!content) throw new RequestError("not_found", `There is no file ${id}.`);
    return { metadata, content };
  }

  async delete(id: string): Promise<void> {
    await this.get(id);
    await this.#store.delete(id as FileId);
  }

  async list(query: PageQuery & { ids?: readonly string[]; scope?: string }): Promise<Page<FileMetadata>> {
    const page = await this.#store.list(query);
    return { ...page, data: page.data.filter((file) => !this.#isExpired(file)) };
  }

  #isExpired({ expires_at: at }: FileMetadata): boolean {
    return at !== null && Date.parse(at) <= this.#clock.now();
  }
}
