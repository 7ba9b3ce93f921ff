import { addCost, addUsage, costOf, noUsage, type Cost, type Usage } from "@tandem/protocol";

/** What one call used so far. Each request is priced by itself, because some models charge long ones differently. */
export class Meter {
  readonly #usageByModel: Record<string, Usage> = {};
  #cost: Cost = { usd: 0 };

  add(model: string, usage: Usage): void {
    this.#usageByModel[model] = addUsage(this.#usageByModel[model] ?? noUsage(), usage);
    this.#cost = addCost(this.#cost, costOf(model, usage));
  }

  get reading(): { usage: Usage; usageByModel: Record<string, Usage>; cost: Cost } {
    const usage = Object.values(this.#usageByModel).reduce(addUsage, noUsage());
    return { usage, usageByModel: { ...this.#usageByModel }, cost: this.#cost };
  }
}
