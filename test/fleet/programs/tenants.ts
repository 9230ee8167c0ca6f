import { Context, readonly } from "headwater";

export class Desk extends Context<number> {
  papers = 0;
  add() {
    this.papers += 1;
    return this.papers;
  }
  @readonly look() {
    return this.papers;
  }
}

class Office extends Context<string> {
  desks = this.children(Desk);
  rent = 0;

  pay() {
    this.rent += 1;
    return this.rent;
  }
  async furnish(desks: number) {
    for (let desk = 0; desk < desks; desk++) await this.desks(desk).add();
  }
  @readonly look() {
    return this.rent;
  }
}

/** Offices with desks that come and go. */
export default class Tenants extends Context {
  offices = this.children(Office);
  ended = 0;

  async end(office: string) {
    this.ended += 1;
    await this.event.delete(this.offices(office));
  }
  async endAndFail(office: string): Promise<never> {
    await this.end(office);
    throw new RangeError("not yet");
  }
  async endAndBegin(office: string) {
    await this.event.delete(this.offices(office));
    await this.offices(office).desks(1).add();
    return (await this.event.list(this.offices)).keys;
  }
  @readonly async list() {
    return (await this.event.list(this.offices)).keys;
  }
}
