/** Saves a response as a file. A plain link could not be signed. */
export async function saveDownload(response: Response): Promise<void> {
  const name = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get("content-disposition") ?? "")?.[1];
  // A type that browsers never render: a blob's address has the page's origin.
  saveFile(name === undefined ? "download" : decodeURIComponent(name), new Blob([await response.blob()]));
}

export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
