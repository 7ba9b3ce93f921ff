import { type Expression, reference } from "../expression/expression.ts";
import { contains } from "../sql/granularity.ts";
import type { Draft, DraftEntity, DraftLink } from "./draft-file.ts";
import type { ImportedFilter } from "./imported-project.ts";
import { type JinjaReference, readJinjaFilter } from "./jinja-filter.ts";
import { columnOf } from "./place-entities.ts";
import { asCondition, columnType, type Term, untranslatable, withPath } from "./sql-term.ts";
import { type SqlScope, translateSql } from "./translate-sql.ts";

/** Names that SQL over an entity's rows can use. */
export class EntityScope {
  readonly entity: DraftEntity;
  readonly #draft: Draft;
  readonly #open = new Set<string>();

  constructor(draft: Draft, entity: DraftEntity) {
    this.#draft = draft;
    this.entity = entity;
  }

  /** The SQL of a row of the entity. `field`: the field that is being defined, whose own name means the column. */
  translate(sql: string, field?: string): Term {
    if (field !== undefined) this.#open.add(field);
    try {
      return translateSql(this.#draft.parse(sql, this.#draft.flavour), this.sql);
    } finally {
      if (field !== undefined) this.#open.delete(field);
    }
  }

  get sql(): SqlScope {
    return { dialect: this.#draft.catalogue.dialect, resolve: this.resolve };
  }

  readonly resolve = (qualifiers: readonly string[], name: string): Term => {
    const qualifier = qualifiers.at(-1);
    if (qualifier === undefined || isNameOf(this.entity, qualifier)) return this.#own(this.entity, name);
    const link = this.#linkNamed(qualifier);
    if (link) return through([link], this.#own(link.to, name));
    const other = this.#draft.entities.find((entity) => isNameOf(entity, qualifier));
    if (!other) throw untranslatable(`${[...qualifiers, name].join(".")} names an entity that is not imported.`);
    const { expression, ...rest } = this.#own(other, name);
    return { ...rest, expression: withPath(expression, [other.file.entity]) };
  };

  /** Conditions of a filter, which all must hold. `time`: the dimension that `metric_time` means. */
  conditions({ sql: text }: ImportedFilter, time: string | undefined): Expression[] {
    if (this.#draft.project.format !== "dbt") return conjuncts(asCondition(this.translate(text)));
    const { sql, references } = readJinjaFilter(text);
    const used = new Set<string>();
    const node = this.#draft.parse(sql, this.#draft.flavour);
    const term = translateSql(node, {
      dialect: this.#draft.catalogue.dialect,
      resolve: (qualifiers, name) => {
        const reference = qualifiers.length === 0 ? references.get(name) : undefined;
        if (!reference) {
          throw untranslatable(
            `The filter names ${[...qualifiers, name].join(".")} without a template.`,
            "Write {{ Dimension('entity__name') }}.",
          );
        }
        used.add(name);
        return this.#template(reference, time);
      },
    });
    if (used.size < references.size) throw untranslatable("A template of the filter stands inside a text.");
    return conjuncts(asCondition(term));
  }

  /** A key or foreign key by the name of its entity, or a dimension: what rows of a semi-additive measure are kept per. */
  keyOrDimension(name: string): Expression[] {
    const link = this.entity.links.find((known) => known.name === name);
    if (link?.refused) throw link.refused;
    if (link) return link.columns.map(reference);
    const key = this.entity.source.keys.find((known) => known.name === name);
    if (key) return [reference(columnOf(this.entity.table, key.sql))];
    if (this.entity.source.ownNames.includes(name)) return this.entity.file.grain.map(reference);
    return [this.#dimension(this.entity, name).expression];
  }

  #template({ kind, names, grain }: JinjaReference, time: string | undefined): Term {
    const name = names.at(-1)!;
    if (kind === "dimension" && names.length === 1 && name === "metric_time") {
      if (time === undefined) throw untranslatable("The filter names metric_time, and the measure has no time.");
      return atGrain(this.#dimension(this.entity, time), grain);
    }
    let candidates: { entity: DraftEntity; links: DraftLink[] }[] = [{ entity: this.entity, links: [] }];
    for (const [at, step] of names.slice(0, -1).entries()) {
      candidates = candidates.flatMap(({ entity, links }) => {
        const own =
          entity.source.ownNames.includes(step) && (at > 0 || entity === this.entity) ? [{ entity, links }] : [];
        const next = entity.links
          .filter((link) => link.name === step)
          .map((link) => ({ entity: link.to, links: [...links, link] }));
        return own.length > 0 ? own : next;
      });
      if (candidates.length === 0) throw untranslatable(`No entity ${step} leads on from ${this.entity.source.id}.`);
    }
    const found = candidates.flatMap(({ entity, links }) => {
      if (kind === "entity") {
        const link = entity.links.find((known) => known.name === name);
        const given = entity.source.keys.find((known) => known.name === name);
        const columns = link?.columns ?? (given ? [columnOf(entity.table, given.sql)] : []);
        const [key] = columns.length === 1 ? columns : [];
        return key === undefined ? [] : [through(links, this.#own(entity, key))];
      }
      const isKnown = entity.terms.has(name) || entity.refused.has(`dimensions.${name}`);
      return isKnown ? [through(links, atGrain(this.#dimension(entity, name), grain))] : [];
    });
    if (found.length === 1) return found[0]!;
    throw untranslatable(
      `${names.join("__")} is ${found.length === 0 ? "no" : "more than one"} ${kind} of the project.`,
    );
  }

  #dimension(entity: DraftEntity, name: string): Term {
    const term = entity.terms.get(name);
    if (term) return term;
    throw entity.refused.get(`dimensions.${name}`) ?? untranslatable(`${entity.source.id} has no dimension ${name}.`);
  }

  #own(entity: DraftEntity, name: string): Term {
    if (this.#draft.project.hasFields && !(entity === this.entity && this.#open.has(name))) {
      const field = entity.source.dimensions.find((known) => known.name.toLowerCase() === name.toLowerCase());
      if (field) return this.#field(entity, field.name, field.sql);
    }
    const found = columnOf(entity.table, name);
    const stored = entity.table.columns.find((known) => known.name === found)!;
    return { expression: reference(found), type: columnType(stored, this.#draft.catalogue.dialect) };
  }

  #field(entity: DraftEntity, name: string, sql: string): Term {
    if (this.#open.size > 50) throw untranslatable(`The field ${name} is defined by itself.`);
    if (entity !== this.entity) return new EntityScope(this.#draft, entity).translate(sql, name);
    return this.translate(sql, name);
  }

  #linkNamed(qualifier: string): DraftLink | undefined {
    const { links } = this.entity;
    const named = links.filter((link) => link.name.toLowerCase() === qualifier.toLowerCase());
    const found = named.length > 0 ? named : links.filter((link) => isNameOf(link.to, qualifier));
    if (found.length > 1) {
      throw untranslatable(
        `Several joins lead from ${this.entity.source.id} to ${qualifier}.`,
        "Give each join a name (alias) in the project, and use it.",
      );
    }
    return found[0];
  }
}

export function isNameOf({ source, table }: DraftEntity, name: string): boolean {
  const wanted = name.toLowerCase();
  return [source.id, ...source.ownNames, table.name].some((known) => known.toLowerCase() === wanted);
}

function through(links: readonly DraftLink[], term: Term): Term {
  const refused = links.find((link) => link.refused)?.refused;
  if (refused) throw refused;
  return {
    ...term,
    expression: withPath(
      term.expression,
      links.map(({ role }) => role),
    ),
  };
}

function atGrain(term: Term, grain: Term["period"]): Term {
  if (grain === undefined) return term;
  if (term.period !== undefined && !contains(grain, term.period)) {
    throw untranslatable(`A time that is known by ${term.period} is rounded to ${grain}s.`);
  }
  return { ...term, period: grain };
}

/** The conditions of nested ANDs. */
export function conjuncts(expression: Expression): Expression[] {
  if (expression.kind !== "and") return [expression];
  return [...conjuncts(expression.left), ...conjuncts(expression.right)];
}
