import type { Expression } from "../../expression/expression.ts";
import type { Entity, Model } from "../../model/model.ts";
import { tableText } from "../../model/catalogued-table.ts";
import {
  arithmeticForm,
  columnForm,
  combine,
  compareForms,
  leaf,
  negateForm,
  type NormalForm,
  numberForm,
  textForm,
} from "./normal-form.ts";

/** The normal form of an expression of a definition. Undefined if a role leads nowhere. */
export function definitionForm(expression: Expression, entity: Entity, model: Model): NormalForm | undefined {
  const form = (inner: Expression): NormalForm | undefined => definitionForm(inner, entity, model);
  const both = (left: Expression, right: Expression): [NormalForm, NormalForm] | undefined => {
    const [a, b] = [form(left), form(right)];
    return a && b && [a, b];
  };
  const each = (inner: readonly Expression[]): NormalForm[] | undefined => {
    const forms = inner.map(form);
    return forms.every((one) => one !== undefined) ? forms : undefined;
  };
  switch (expression.kind) {
    case "reference":
      return referenceForm(expression.reference, entity, model);
    case "number":
      return numberForm(expression.value);
    case "text":
      return textForm(expression.value);
    case "boolean":
      return leaf(String(expression.value));
    case "null":
      return leaf("null");
    case "negate": {
      const operand = form(expression.operand);
      return operand && combine("-", [operand]);
    }
    case "not": {
      const inner = expression.operand;
      const operands = inner.kind === "compare" ? both(inner.left, inner.right) : undefined;
      const turned = operands && inner.kind === "compare" ? negateForm(inner.operator, ...operands) : undefined;
      const operand = form(inner);
      return turned ?? (operand && combine("not", [operand]));
    }
    case "arithmetic": {
      const operands = both(expression.left, expression.right);
      return operands && arithmeticForm(expression.operator, ...operands);
    }
    case "compare": {
      const operands = both(expression.left, expression.right);
      return operands && compareForms(expression.operator, ...operands);
    }
    case "and":
    case "or": {
      const operands = both(expression.left, expression.right);
      return operands && combine(expression.kind, operands, true);
    }
    case "in": {
      const [operand, values] = [form(expression.operand), each(expression.values)];
      return operand && values && combine("in", [operand, combine("", values, true)]);
    }
    case "is_null": {
      const operand = form(expression.operand);
      return operand && combine("is null", [operand]);
    }
    case "call": {
      const operands = each(expression.operands);
      return operands && combine(expression.name, operands);
    }
    case "like":
    case "case":
      return undefined;
  }
}

function referenceForm(
  { path, name }: { path: readonly string[]; name: string },
  entity: Entity,
  model: Model,
): NormalForm | undefined {
  let at: Entity | undefined = entity;
  for (const step of path) {
    const role: { to: string } | undefined = at?.roles.find((one) => one.name === step || one.to === step);
    at = role && model.entities.get(role.to);
  }
  return at && columnForm(`${tableText(at.table)}.${name}`.toLowerCase());
}

/** The operands of nested ANDs of a definition. */
export function conditionsOf(expression: Expression): Expression[] {
  return expression.kind === "and"
    ? [...conditionsOf(expression.left), ...conditionsOf(expression.right)]
    : [expression];
}
