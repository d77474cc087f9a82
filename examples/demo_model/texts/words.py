"""Vocabularies of the corpus, and the rule that keeps some of each for the held-out split.

A word is held out if its CRC-32 is divisible by six, whether it is in a list or made up. The split
therefore needs no stored list, and no word of a held-out value is a value in training.
"""

import random
import zlib
from functools import cache

HOLD_EVERY = 6

LISTS: dict[str, str] = {
    "first": """Ada Grace Alan Edsger Barbara Donald Margaret Linus Frances Ken Dennis Radia Anita
    Niklaus Maria Jose Ahmed Fatima Wei Ling Yuki Hiro Olga Ivan Pierre Claire Hans Greta Paolo
    Giulia Carlos Lucia Kwame Amara Priya Arjun Sana Omar Noah Emma Liam Olivia Mia Lucas Ethan Ava
    Sophie Jack Henry Alice Bob Carol Dave Eve Frank Gina Harold Irene James Karen Leo Nina Oscar
    Paula Quentin Rosa Samuel Tina Ulla Victor Wendy Xavier Yara Zoe Anna Peter Julia Martin Laura
    Thomas Sarah David Rachel Simon Helen Marta Elena Diego Felix Ingrid Jonas Katrin Lars Milan
    Nadia Otto Petra Rafael Stella Theo Ursula Vera Walter John Jane Mary Robert Linda Michael
    Susan William Jessica Daniel Lisa Matthew Nancy Anthony Betty Mark Sandra George Ruth""",
    "surname": """Lovelace Hopper Turing Dijkstra Liskov Knuth Hamilton Allen Thompson Ritchie
    Perlman Borg Wirth Smith Jones Brown Taylor Wilson Davies Evans Walker Wright Green Hall Wood
    Clarke Lewis Young King Moore Garcia Martinez Lopez Silva Santos Costa Rossi Bianchi Ferrari
    Muller Schmidt Weber Fischer Meyer Becker Novak Horvat Kovacs Nagy Ivanov Petrov Sokolov Chen
    Wang Zhang Liu Tanaka Suzuki Sato Kim Park Nguyen Tran Khan Patel Singh Sharma Ali Hassan Okafor
    Mensah Diallo Johansson Larsen Nielsen Virtanen Dubois Moreau Laurent Vermeer Jansen Bakker
    Murphy Kelly Byrne Campbell Stewart Morgan Reed Cook Bell Baker Carter Parker Collins Hughes
    Foster Gray Hayes Fisher Stone Doe Miller Davis Anderson White Harris Clark Adams""",
    "city": """London Paris Berlin Madrid Rome Lisbon Vienna Prague Dublin Oslo Stockholm Helsinki
    Copenhagen Amsterdam Brussels Zurich Geneva Milan Turin Naples Barcelona Seville Porto Athens
    Istanbul Cairo Lagos Nairobi Accra Mumbai Delhi Chennai Tokyo Osaka Kyoto Seoul Beijing Shanghai
    Sydney Melbourne Auckland Toronto Montreal Vancouver Boston Chicago Denver Austin Dallas Seattle
    Portland Miami Atlanta Houston Lima Bogota Santiago Quito Havana Krakow Warsaw Budapest Zagreb
    Riga Tallinn Vilnius Leeds Bristol York Bath Oxford Cambridge Hamburg Munich Cologne Dresden
    Lyon Nice Marseille Bordeaux Ghent Utrecht Bergen Malmo Tampere Graz Basel|New York|San Francisco
    |Los Angeles|Cape Town|Hong Kong|Mexico City|Buenos Aires|Rio de Janeiro|Tel Aviv|Kuala Lumpur""",
    "country": """France Germany Spain Italy Portugal Austria Ireland Norway Sweden Finland Denmark
    Belgium Switzerland Greece Turkey Egypt Nigeria Kenya Ghana India Japan Korea China Australia
    Canada Peru Colombia Chile Cuba Poland Hungary Croatia Latvia Estonia Brazil Mexico Argentina
    Iceland Vietnam Thailand Indonesia Morocco|New Zealand|South Africa|United States|United Kingdom
    |Czech Republic|Costa Rica""",
    "color": """red blue green yellow black white grey brown orange purple pink silver gold beige
    teal navy crimson scarlet amber ivory violet turquoise maroon olive""",
    "adjective": """brass wooden steel copper plastic leather cotton woollen glass ceramic folding
    portable wireless compact heavy light small large round square solid hollow soft sturdy
    waterproof electric manual digital antique modern vintage classic deluxe basic mini giant double
    single spare padded striped plain painted polished""",
    "noun": """lantern chair table desk lamp kettle teapot mug bowl plate spoon knife pan basket
    blanket pillow curtain carpet mirror clock radio camera phone laptop keyboard mouse monitor
    speaker cable battery charger adapter printer scanner notebook pencil pen ruler stapler folder
    backpack suitcase umbrella jacket scarf glove boot shoe hat belt wallet watch ring bicycle helmet
    tent rope compass torch hammer saw drill wrench ladder bucket shovel rake hose bench shelf
    cabinet drawer stool sofa heater fan pump valve filter sensor router switch tripod guitar drum
    violin flute puzzle kite ball racket""",
    "job": """engineer teacher nurse doctor lawyer carpenter plumber electrician baker chef waiter
    driver pilot farmer gardener painter sculptor musician singer actor dancer writer editor
    journalist librarian archivist historian biologist chemist physicist mathematician astronomer
    geologist economist accountant auditor banker broker manager secretary architect surveyor
    designer tailor weaver potter jeweller mechanic welder blacksmith fisherman sailor soldier judge
    translator photographer programmer analyst consultant|data scientist|product manager
    |software engineer|sales manager|school principal|museum guide|train conductor|shop assistant""",
    "food": """rice flour sugar salt butter milk cream cheese yogurt egg onion garlic tomato potato
    carrot pepper spinach cabbage lettuce cucumber mushroom bean lentil chickpea corn pea lemon lime
    apple pear peach cherry plum berry honey oil vinegar mustard basil thyme rosemary parsley mint
    ginger cinnamon cumin paprika saffron vanilla almond walnut raisin chicken beef pork lamb salmon
    tuna shrimp tofu noodle bread yeast cocoa oats""",
    "dish": """|lentil soup|apple pie|fish stew|rice pudding|onion tart|bean salad|carrot cake
    |mushroom risotto|potato gratin|chicken curry|beef goulash|lemon tart|tomato soup|garlic bread
    |vegetable lasagne|pumpkin soup|cheese omelette|fried noodles|plum cake|spinach pie|lamb tagine
    |corn chowder|berry crumble|fish tacos""",
    "topic": """|network security|water quality|public health|urban planning|marine biology|music
    theory|machine learning|solar energy|medieval history|organic farming|data privacy|soil
    chemistry|game design|film editing|bird migration|ocean currents|graph theory|bread baking|wood
    carving|language teaching|glass blowing|city transport|rare books|stage lighting|wind power
    |number theory|food safety|wild flowers|digital maps|road safety""",
    "reason": """|the screen stays black|the package arrived damaged|the login page is slow|the
    battery drains too fast|the invoice is wrong|the door does not close|the printer is out of
    paper|the file cannot be opened|the engine makes a strange noise|the heating does not work|the
    password was rejected|the meeting was moved|the water is too cold|the label is missing|the
    colour is different|the app crashes on start|the sound is too low|the wheel is bent|the order
    was late|the light keeps flickering|the seat is broken|the map is out of date""",
    "street": """Elm Oak Maple Cedar Pine Birch Willow Church Station Market Bridge Mill Park High
    Queen King Victoria Castle Harbour River Lake Hill Garden School Garden Rose Chapel Meadow
    Orchard Forest North South East West""",
    "street_kind": "Street Road Lane Avenue Square Way Drive Close Court Place",
    "company_kind": """Ltd Inc Group Labs Works Systems Foods Motors Books Partners Studio Logistics
    Energy Bank Media Trading Robotics Textiles""",
    "event_kind": """Conference Workshop Festival Summit Meetup Concert Fair Exhibition Seminar
    Marathon Gala Symposium Hackathon Retreat Parade""",
    "title_noun": """River Garden Winter Summer Shadow Light Stone Mirror Ocean Mountain House
    Island Road Night Morning Bridge Tower Forest Letter Song Clock Door Star Fire Rain Silence
    Desert Harbour Storm Lantern""",
    "animal": """dog cat horse rabbit parrot goat sheep cow donkey hamster turtle lizard canary
    goose duck hen pig ferret pony llama""",
    "material": """wood oak pine steel iron copper brass glass paper cotton wool linen leather rubber
    plastic ceramic marble granite bamboo cork felt silk nylon concrete clay tin zinc aluminium""",
}

ONSETS = """b bl br c ch cl cr d dr f fl fr g gl gr h j k kl kr l m n p pl pr qu r s sc sh sk sl sm sn
sp st str sw t th tr v w wh y z zh""".split()
NUCLEI = "a e i o u ai au ea ee ei ia ie io oa oo ou y".split()
CODAS = """- - - - b ck d f g k l ld ll lm lt m mp n nd ng nk nt p r rd rk rm rn rt s sh sk ss st t th
v x z""".split()
ENDINGS = (
    "a an ane ard arn el en er ert ic ien in ine is ius o on or ova ow son ton us well y".split()
)

MAIL_HOSTS = "example.com example.org mail.net post.io inbox.dev acme.co work.eu home.uk".split()
MONTHS = """January February March April May June July August September October November
December""".split()
NUMBER_WORDS = """zero one two three four five six seven eight nine ten eleven twelve""".split()


@cache
def entries(name: str, held_out: bool) -> tuple[str, ...]:
    """The entries of one list that belong to the split."""
    text = LISTS[name]
    if "|" in text:
        head, *rest = text.split("|")
        items = head.split() + [" ".join(part.split()) for part in rest if part.strip()]
    else:
        items = text.split()
    return tuple(x for x in dict.fromkeys(items) if is_held_out_word(x) == held_out)


def is_held_out_word(word: str) -> bool:
    """Whether a made-up word (any case) belongs to the held-out split."""
    return zlib.crc32(word.lower().encode()) % HOLD_EVERY == 0


def made_up(rng: random.Random, held_out: bool) -> str:
    """A made-up lower-case word of the split, three to eleven letters."""
    while True:
        syllables = rng.choice((1, 1, 2, 2, 2, 3))
        word = "".join(
            rng.choice(ONSETS) + rng.choice(NUCLEI) + rng.choice(CODAS).strip("-")
            for _ in range(syllables)
        )
        if syllables < 3 and rng.random() < 0.4:
            word += rng.choice(ENDINGS)
        if 3 <= len(word) <= 11 and is_held_out_word(word) == held_out:
            return word
