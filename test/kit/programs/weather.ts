import { Context } from "headwater";

export class Station extends Context<string> {
  celsius: number | null = null;

  /** Planted: what it asks for is outside, and the event may be tried several times. */
  async refresh() {
    const answer = await fetch(`https://weather.example/${this.key}`);
    this.celsius = Number(await answer.text());
  }
}

export default class Weather extends Context {
  stations = this.children(Station);
}
