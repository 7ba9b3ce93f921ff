import { z } from "zod";

const needsSchema = z.array(z.object({ path: z.string(), modules: z.array(z.string()) }));
type Needs = z.infer<typeof needsSchema>;

/**
 * Preload tags for each path of the page, from the build's manifest. The browser then loads them in parallel with the
 * page's script instead of after it.
 */
export class PreloadTags {
  readonly #needs: Promise<Needs>;

  /** `text`: the manifest of the build, if it has one. */
  constructor(text: Promise<string | undefined>) {
    this.#needs = text.then(parse);
  }

  /** Tags for the head. */
  async tags(path: string): Promise<string> {
    const found = (await this.#needs).find(({ path: pattern }) => new RegExp(pattern).test(path));
    return (found?.modules ?? []).map((file) => `<link rel="modulepreload" href="${file}">`).join("");
  }
}

/** A page without preload tags is slower but correct. */
function parse(text = "[]"): Needs {
  try {
    return needsSchema.parse(JSON.parse(text));
  } catch {
    return [];
  }
}
