/** Frequent given names without accents, for telling persons from companies and products. */
export const GIVEN_NAMES: ReadonlySet<string> = new Set(
  `aaron abdul abigail adam adele adrian agnes ahmed aisha alan albert alejandro alex alexander alexandra alexis alfred ali alice
  alicia alina alison allison amanda amber amelia amir amy ana anastasia andre andrea andreas andres andrew angela angelika anita
  anja anke ann anna anne annette annika anthony antje antoine antonia antonio april ariana arthur arun ashley astrid audrey
  barbara beate beatrice ben benjamin bernd bernhard beth bettina betty bianca bill birgit bjorn bob boris bradley brandon
  brenda brian brigitte bruce bruno bryan camille carl carla carlos carmen carol carolin caroline carolyn catherine cecilia
  chantal charles charlotte chen cheryl chiara chloe chris christa christian christiane christina christine christoph
  christopher cindy claire clara claudia claus clemens colin connor cornelia craig cristina cynthia dagmar daniel daniela danielle
  david deborah debra dennis denise derek diana diane diego dieter dietmar dirk dominic dominik donald donna dorothea dorothy
  douglas dylan edgar edith eduard edward elena eleonore elias elif elisabeth elizabeth elke ella ellen elsa emil emilia emily
  emma emmanuel eric erica erich erik erika erin ernst esther ethan eugen eva evan evelyn fabian fatima fatma felipe felix
  ferdinand fernando finn florence florian frances francesca francesco francis francisco frank franz franziska fred frederick
  friedrich fritz gabriel gabriela gabriele gareth gary george georg gerald gerd gerhard gertrud gina giovanni gisela giulia
  gloria grace graham greg gregor gregory greta guido gunter gustav hanna hannah hannelore hans harald harold harry hassan hasan
  heather heidi heike heinrich heinz helen helena helga helmut hendrik henrik henry herbert hermann hilde holger horst hugo ian
  ibrahim igor ines ingeborg ingo ingrid irene irina iris isaac isabel isabella isabelle ivan jack jacob jacqueline jakob james
  jamie jan jana jane janet janice janine jared jasmin jason javier jean jeff jeffrey jenna jennifer jenny jens jeremy jerry
  jessica jill jim joachim joan joanna joe joel johan johann johanna johannes john johnny jon jonas jonathan jorg jorge jose
  josef joseph joshua joyce juan judith judy julia julian juliane julie julien jurgen justin jutta kai karen karin karl karla
  karsten katarina kate katharina katherine kathleen kathrin kathryn katie katja katrin kayla keith kelly ken kenneth kerstin
  kevin kim kimberly kirsten klaus konrad konstantin kristian kristin kristina kurt kyle lara larry lars laura lauren laurent
  lea leah lee lena leon leonard leonie leticia liam lidia lili lilian lina linda linus lisa liu logan lorena lorenzo louis
  louisa louise luca lucas lucia lucy ludwig luis luise luisa lukas luke lutz maja malte manfred manuel manuela marc marcel marcus
  margaret margarete margit maria marianne marie marilyn marina mario marion marisa mark marko markus marlene marta martha martin
  martina mary mateo mathias mathilde matteo matthew matthias maurice max maximilian maya megan mehmet melanie melissa mia
  michael michaela michel michelle miguel mike milan miriam mohamed mohammad mohammed mona monica monika moritz muhammad murat
  mustafa nadine nadja nancy natalia natalie natasha nathan nicholas nick nico nicola nicolas nicole niklas nils nina noah nora
  norbert olaf ole oleg olga oliver olivia omar oscar oskar otto owen pablo pamela paolo pascal patricia patrick paul paula
  paulina pauline pedro peggy peter petra philip philipp phillip pia pierre priya rachel rafael rainer raj ralf ralph ramona
  randy raphael raul ravi raymond rebecca regina reinhard rene renate ricardo richard rita robert roberto robin roger roland
  rolf roman ronald rosa rose rosemarie roy ruben rudolf russell ruth ryan sabine sabrina sally sam samantha samuel sandra sanjay
  sara sarah sascha scott sean sebastian selina sergei sergio sharon shirley siegfried sigrid silke silvia simon simone sofia
  sofie sonja sophia sophie stefan stefanie steffen stella stephan stephanie stephen steve steven sue susan susanne suzanne sven
  svenja svetlana sylvia tamara tania tanja tara tatjana teresa terry thea theo theodor theresa thomas thorsten till tim timo
  timothy tina tobias todd tom tomas tony torsten tracy tyler udo ulrich ulrike ursula uta ute uwe valentina valerie vanessa
  vera veronica veronika vicky victor victoria viktor viktoria vincent virginia vivian volker waldemar walter wang wayne wei
  wendy werner wilhelm will william willy wolfgang xavier xin yan yasmin yusuf yvonne zachary zoe`.split(/\s+/),
);
