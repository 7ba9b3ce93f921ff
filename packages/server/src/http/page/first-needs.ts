import { z } from "zod";

const needsSchema = z.array(
  z.object({ path: z.string(), modules: z.array(z.string()), requests: z.array(z.string()) }),
);
type Needs = z.infer<typeof needsSchema>;

/**
 * What a place of the page needs before it can show anything, as its build has written it: said in the page's head, the
 * browser loads it side by side with the page's own script instead of after it.
 */
export class FirstNeeds {
  readonly #needs: Promise<Needs>;

  /** `text`: what the build has written of it, if anything. */
  constructor(text: Promise<string | undefined>) {
    this.#needs = text.then(parse);
  }

  /** Tags for the head. Who is not known to be signed in is asked for nothing that would be refused. */
  async tags(path: string, isSignedIn: boolean): Promise<string> {
    for (const { path: pattern, modules, requests } of await this.#needs) {
      // Ids are of letters, digits and `_`: what the pattern catches can stand in an attribute.
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

/** A page that says nothing of it is slower, and no worse. */
function parse(text = "[]"): Needs {
  try {
    return needsSchema.parse(JSON.parse(text));
  } catch {
    return [];
  }
}
