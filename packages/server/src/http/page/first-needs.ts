import { z } from "zod";

const needsSchema = z.array(
  z.object({ path: z.string(), modules: z.array(z.string()), requests: z.array(z.string()) }),
);
type Needs = z.infer<typeof needsSchema>;

/**
 * Preload tags for each path of the page, from the build's manifest. The browser then loads them in parallel with the
 * page's script instead of after it.
 */
export class FirstNeeds {
  readonly #needs: Promise<Needs>;

  /** `text`: the manifest of the build, if it has one. */
  constructor(text: Promise<string | undefined>) {
    this.#needs = text.then(parse);
  }

  /** Tags for the head. Requests that need a sign-in are preloaded only if the browser seems to be signed in. */
  async tags(path: string, isSignedIn: boolean): Promise<string> {
    for (const { path: pattern, modules, requests } of await this.#needs) {
      // Ids contain only letters, digits and `_`, so a match is safe in an attribute.
      const found = new RegExp(pattern).exec(path);
      if (!found) continue;
      const wanted = isSignedIn ? requests.map((request) => request.replaceAll("$1", found[1] ?? "")) : [];
      return [
        ...wanted.map((request) => `<link rel="preload" as="fetch" crossorigin href="${request}">`),
        ...modules.map((file) => `<link rel="modulepreload" href="${file}">`),
      ].join("");
    }
    return "";
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
